// Package api is the HTTP face of ragagent: routes, server-sent events, limits,
// metrics and problem documents. It translates between JSON and the calls of
// ingest, retrieval, agent and store; it decides nothing about documents,
// ranking or answers. HTTP status codes exist only here, and echo does too.
//
// One request passes, from the outside in: the connection's deadlines, routing,
// then request id, log, metrics and panic guard (observe), host and origin check
// with the common headers (admit), the web page where no route matched
// (elsewhere), and its handler.
// Whatever goes wrong on the way ends in one problem document
// (application/problem+json, RFC 9457).
package api
