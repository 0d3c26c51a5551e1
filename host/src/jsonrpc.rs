//! ndjson JSON-RPC 2.0: framing and call matching, written once for every place that speaks it.
