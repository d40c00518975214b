package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ragagent/retrieval"
	"ragagent/store"
)

// metrics are what /metrics shows. Labels only take values the server chose:
// no address, name or word of a client or a model makes a new series.
type metrics struct {
	registry *prometheus.Registry
	handler  http.Handler

	requests  *prometheus.CounterVec
	latency   *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	retrieval *prometheus.HistogramVec
	degraded  prometheus.Counter
	agent     agentMetrics
}

// Buckets in seconds: searches take milliseconds, language models minutes.
var (
	fastBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	slowBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
)

func newMetrics(jobs Records, log *slog.Logger) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ragagent_http_requests_total",
			Help: "Requests by route, method and status.",
		}, []string{"method", "route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ragagent_http_request_duration_seconds",
			Help:    "Time from a request's header to the end of its answer.",
			Buckets: slowBuckets,
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "ragagent_http_requests_in_flight",
			Help: "Requests that are being answered.",
		}),
		retrieval: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ragagent_retrieve_duration_seconds",
			Help:    "Time of a retrieval, without waiting for its turn.",
			Buckets: fastBuckets,
		}, []string{"mode"}),
		degraded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ragagent_retrieve_degraded_total",
			Help: "Retrievals that had to leave a stage out.",
		}),
		agent: newAgentMetrics(),
	}
	m.registry.MustRegister(m.requests, m.latency, m.inFlight, m.retrieval, m.degraded,
		jobCollector{jobs: jobs, log: log},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.agent.collectors()...)
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
	})
	return m
}

func (s *Server) serveMetrics(c echo.Context) error {
	s.metrics.handler.ServeHTTP(c.Response(), c.Request())
	return nil
}

func (m *metrics) enter() (leave func()) {
	m.inFlight.Inc()
	return m.inFlight.Dec
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
	http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

func (m *metrics) request(method, route string, status int, elapsed time.Duration) {
	if !slices.Contains(methods, method) {
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(method, route).Observe(elapsed.Seconds())
}

func (m *metrics) retrieved(q retrieval.Query, r retrieval.Result) {
	mode := q.Mode
	if mode == "" {
		mode = retrieval.Hybrid
	}
	m.retrieval.WithLabelValues(string(mode)).Observe(r.Elapsed.Seconds())
	if len(r.Degraded) > 0 {
		m.degraded.Inc()
	}
}

// jobCollector counts jobs when it is asked, from the records themselves.
type jobCollector struct {
	jobs Records
	log  *slog.Logger
}

var jobsDesc = prometheus.NewDesc("ragagent_ingest_jobs", "Ingest jobs by status.", []string{"status"}, nil)

// jobCountTimeout keeps a busy database from holding a scrape.
const jobCountTimeout = 5 * time.Second

// Describe implements prometheus.Collector.
func (jobCollector) Describe(ch chan<- *prometheus.Desc) { ch <- jobsDesc }

// Collect implements prometheus.Collector.
func (j jobCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), jobCountTimeout)
	defer cancel()
	counts, err := j.jobs.CountJobs(ctx)
	if err != nil {
		j.log.Warn("jobs not counted", "error", err)
		return
	}
	for _, status := range []store.Status{store.StatusQueued, store.StatusRunning, store.StatusReady, store.StatusFailed, store.StatusCancelled} {
		ch <- prometheus.MustNewConstMetric(jobsDesc, prometheus.GaugeValue, float64(counts[status]), string(status))
	}
}
