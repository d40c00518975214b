package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ragagent/agent"
	"ragagent/agent/tool"
)

// agentMetrics are the agent.* metrics under Prometheus names. They are read
// off the events of runs, as everything else about a run is.
type agentMetrics struct {
	runs       *prometheus.CounterVec
	iterations prometheus.Histogram
	model      prometheus.Histogram
	tools      *prometheus.HistogramVec
	toolErrors *prometheus.CounterVec
	tokens     *prometheus.CounterVec
}

func newAgentMetrics() agentMetrics {
	return agentMetrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ragagent_agent_runs_total",
			Help: "Runs by the way they ended.",
		}, []string{"finished_reason"}),
		iterations: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ragagent_agent_iteration_count",
			Help:    "Turns of the model in a run.",
			Buckets: []float64{1, 2, 3, 4, 5, 7, 10, 20, 50, 99},
		}),
		model: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ragagent_agent_llm_duration_seconds",
			Help:    "Time of one turn of the model, without its tools.",
			Buckets: slowBuckets,
		}),
		tools: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ragagent_agent_tool_duration_seconds",
			Help:    "Time of one tool call.",
			Buckets: slowBuckets,
		}, []string{"tool"}),
		toolErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ragagent_agent_tool_errors_total",
			Help: "Failed tool calls; over the count of ragagent_agent_tool_duration_seconds this is the error rate.",
		}, []string{"tool"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ragagent_agent_token_usage_total",
			Help: "Tokens that runs used.",
		}, []string{"kind"}),
	}
}

func (m agentMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.runs, m.iterations, m.model, m.tools, m.toolErrors, m.tokens}
}

// runMetrics follows one run. It is used by one goroutine.
type runMetrics struct {
	agentMetrics
	offered map[string]bool      // tools that exist: models invent others
	open    map[string]time.Time // starts of steps and calls, by id
	result  *agent.Result        // set once the run has ended
}

func (m *metrics) newRun(tools []tool.Tool) *runMetrics {
	r := &runMetrics{agentMetrics: m.agent, offered: map[string]bool{}, open: map[string]time.Time{}}
	for _, t := range tools {
		r.offered[t.Spec().Name] = true
	}
	return r
}

func (r *runMetrics) saw(e agent.Event) {
	switch e.Kind {
	case agent.StepStart:
		r.open[e.ID] = e.Time
	case agent.ToolStart:
		r.turnEnds(e.Parent, e.Time)
		r.open[e.ID] = e.Time
	case agent.StepEnd:
		r.turnEnds(e.ID, e.Time)
	case agent.ToolEnd:
		r.toolEnds(e)
	case agent.RunEnd:
		r.runEnds(e.Result)
	}
}

// turnEnds is when the step's first tool starts, or else the step ends.
func (r *runMetrics) turnEnds(step string, at time.Time) {
	if start, ok := r.open[step]; ok {
		delete(r.open, step)
		r.model.Observe(at.Sub(start).Seconds())
	}
}

func (r *runMetrics) toolEnds(e agent.Event) {
	name := e.Label
	if !r.offered[name] {
		name = "unknown"
	}
	if start, ok := r.open[e.ID]; ok {
		delete(r.open, e.ID)
		r.tools.WithLabelValues(name).Observe(e.Time.Sub(start).Seconds())
	}
	if e.Status == agent.StatusError {
		r.toolErrors.WithLabelValues(name).Inc()
	}
}

func (r *runMetrics) runEnds(result *agent.Result) {
	if r.result = result; result == nil {
		return
	}
	r.runs.WithLabelValues(string(result.FinishedReason)).Inc()
	r.iterations.Observe(float64(result.TotalSteps))
	r.tokens.WithLabelValues("prompt").Add(float64(result.Usage.PromptTokens))
	r.tokens.WithLabelValues("completion").Add(float64(result.Usage.CompletionTokens))
}
