//! One conformance suite for all stores: one file a behaviour, run against every store by name, on real servers.

mod clock;
mod cycle;
mod faults;
mod ground;
mod layout;
mod locks;
mod outage;
mod purge;
mod serve;
mod transaction;
mod vectors;

/// A test of each behaviour on one store.
macro_rules! behaviours {
    ($store:ident: $($behaviour:ident in $file:ident,)*) => {
        mod $store {
            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $behaviour() {
                    if let Some(ground) = crate::ground::Ground::new(stringify!($store)) {
                        crate::$file::$behaviour(&ground).await;
                    }
                }
            )*
        }
    };
}

/// The behaviours of every store, and for each store those that it has beside them.
macro_rules! stores {
    ($($store:ident $({ $($own:ident in $file:ident,)* })?)*) => {$(
        behaviours! { $store:
            every_vector in vectors,
            the_clock_is_the_servers in clock,
            a_cycle_is_executed_once_and_replayed in cycle,
            a_first_execution_takes_four_statements_and_a_replay_one in cycle,
            one_of_many_claims_is_acquired in cycle,
            takeovers_and_burials_follow_the_lease in cycle,
            a_verdict_and_its_audit_are_one in cycle,
            any_operation_may_go_wrong in faults,
            a_layout_is_made_once_and_checked in layout,
            hosts_that_purge_at_once_take_each_row_once in purge,
            a_transaction_is_all_or_nothing in transaction,
            duplicates_at_two_servers_have_one_effect in serve,
            $($($own in $file,)*)?
        }
    )*};
}

stores! {
    sqlite
    postgres {
        an_odd_session_changes_no_reading in clock,
        another_providers_tables_are_refused in layout,
        a_half_done_layout_is_refused in layout,
        a_row_that_is_locked_is_told_in_time in locks,
        a_server_that_takes_no_writes_is_told in locks,
        a_wrong_password_is_told_without_it in locks,
        a_cut_over_waits_for_the_writes_under_way in locks,
        a_crash_of_the_server_loses_nothing in outage,
    }
    mariadb {
        an_odd_session_changes_no_reading in clock,
        another_providers_tables_are_refused in layout,
        a_half_done_layout_is_refused in layout,
        a_row_that_is_locked_is_told_in_time in locks,
        a_server_that_takes_no_writes_is_told in locks,
        a_wrong_password_is_told_without_it in locks,
        a_crash_of_the_server_loses_nothing in outage,
    }
}
