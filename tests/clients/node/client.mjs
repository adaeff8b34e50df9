// A client that retries on its own: one POST with an Idempotency-Key, through got.
//
// Usage: client.mjs URL KEY PAYLOAD TIMEOUT_SECONDS RETRIES
//
// Every repetition is got's; this program makes one call and prints, as one JSON object, the answer that it holds in the end.
// The key is sent bare, as most clients do.

import got from 'got';

const [url, key, payload, timeout, retries] = process.argv.slice(2);

const answer = await got.post(url, {
  body: payload,
  headers: { 'content-type': 'application/json', 'idempotency-key': key },
  timeout: { request: Number(timeout) * 1000 },
  throwHttpErrors: false,
  retry: {
    limit: Number(retries),
    methods: ['POST'], // not so by default: the key is what makes a POST safe to repeat
    statusCodes: [409, 502, 503, 504],
    maxRetryAfter: 60_000, // else a Retry-After beyond the time-out of one try ends it all
    backoffLimit: 1_000,
  },
});
const held = {
  status: answer.statusCode,
  replayed: answer.headers['idempotency-replayed'] === 'true',
  body: answer.body,
};
console.log(JSON.stringify(held));
