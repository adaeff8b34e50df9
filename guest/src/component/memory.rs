//! The component's memory: a call takes what it needs from one end, and gives all of it back before the next call begins.
//!
//! That suits calls that are short and bounded, and it is a tenth of the size of a general allocator and faster. What is freed within a
//! call is used again only where it was the last that was taken; once nothing is in use, everything is free. Memory that the system
//! gave stays, up to the host's limit. Tests: `tests/tests/host/`, whose calls by the thousand run on one instance, and the bench's 10^6.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::cell::Cell;
use core::ptr;

const PAGE_BYTES: usize = 65_536;
const MEMORY: u32 = 0;

#[global_allocator]
static SCRATCH: Scratch = Scratch { next: Cell::new(0), in_use: Cell::new(0) };

struct Scratch {
    /// Where the next allocation begins; 0 before the first one.
    next: Cell<usize>,
    /// Allocations that have not been given back.
    in_use: Cell<usize>,
}

#[expect(unsafe_code, reason = "a component is entered by one thread at a time, and its memory is not shared")]
// SAFETY: `wasm32-unknown-unknown` without threads: there is no second thread that could see it.
unsafe impl Sync for Scratch {}

#[expect(unsafe_code, reason = "the address of a symbol that the linker defines")]
fn heap_base() -> usize {
    unsafe extern "C" {
        static __heap_base: u8;
    }
    // The address alone is taken; nothing is read.
    (&raw const __heap_base).addr()
}

impl Scratch {
    /// Room for `bytes` from `at` on, grown if need be. `None`: the host allows no more.
    fn reach(&self, at: usize, bytes: usize) -> Option<()> {
        let end = at.checked_add(bytes)?;
        let have = wasm32::memory_size(MEMORY).checked_mul(PAGE_BYTES)?;
        if end > have {
            let more = (end - have).div_ceil(PAGE_BYTES);
            if wasm32::memory_grow(MEMORY, more) == usize::MAX {
                return None;
            }
        }
        self.next.set(end);
        Some(())
    }

    fn is_last(&self, at: *mut u8, bytes: usize) -> bool {
        at.addr().checked_add(bytes) == Some(self.next.get())
    }
}

#[expect(unsafe_code, reason = "what an allocator is")]
// SAFETY: what is handed out lies between the data and the end of the memory, aligned, and is handed out again only after it was given
// back: `next` falls to the start of the last allocation when that is given back, and to the heap's start when none is in use.
unsafe impl GlobalAlloc for Scratch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = if self.in_use.get() == 0 { heap_base() } else { self.next.get() };
        let Some(at) = start.checked_next_multiple_of(layout.align()) else {
            return ptr::null_mut();
        };
        if self.reach(at, layout.size()).is_none() {
            return ptr::null_mut();
        }
        self.in_use.set(self.in_use.get().saturating_add(1));
        ptr::with_exposed_provenance_mut(at)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.in_use.set(self.in_use.get().saturating_sub(1));
        if self.is_last(at, layout.size()) {
            self.next.set(at.addr());
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if self.is_last(at, layout.size()) {
            return if self.reach(at.addr(), bytes).is_some() { at } else { ptr::null_mut() };
        }
        if bytes <= layout.size() {
            return at;
        }
        // SAFETY: the caller keeps to the contract of `realloc`, so the new size is not 0 and the alignment is a power of two.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(bytes, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both are in use and do not overlap, since the new one was just taken; the smaller size fits both.
            unsafe {
                ptr::copy_nonoverlapping(at, moved, layout.size().min(bytes));
                self.dealloc(at, layout);
            }
        }
        moved
    }
}
