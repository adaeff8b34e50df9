"""A client that retries on its own: one POST with an Idempotency-Key, through urllib3.

Usage: client.py URL KEY PAYLOAD TIMEOUT_SECONDS RETRIES

Every repetition is urllib3's; this program makes one call and prints, as one JSON object, the answer that it holds in the end.
The key is sent as a quoted string, as the draft of the header writes it.
"""

import json
import sys

import urllib3

url, key, payload, timeout, retries = sys.argv[1:]

answer = urllib3.request(
    "POST",
    url,
    body=payload.encode(),
    headers={"content-type": "application/json", "idempotency-key": f'"{key}"'},
    timeout=urllib3.Timeout(total=float(timeout)),
    retries=urllib3.Retry(
        total=int(retries),
        allowed_methods=None,  # any: the key is what makes a POST safe to repeat
        status_forcelist=[409, 502, 503, 504],
        respect_retry_after_header=True,
        backoff_factor=0.2,
        raise_on_status=False,
    ),
)
held = {
    "status": answer.status,
    "replayed": answer.headers.get("idempotency-replayed") == "true",
    "body": answer.data.decode(),
}
print(json.dumps(held))
