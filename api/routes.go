package api

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"
)

// route is one line of the outer contract.
type route struct {
	method, path string
	handle       echo.HandlerFunc
}

// routes are all addresses of the server but the page's. openapi.json describes
// each of them, as a test makes sure.
func (s *Server) routes() []route {
	const v1 = "/api/v1"
	const kb, doc = v1 + "/knowledge-bases/:kb", v1 + "/knowledge-bases/:kb/documents/:id"
	return []route{
		{http.MethodPost, v1 + "/knowledge-bases", s.createKnowledgeBase},
		{http.MethodGet, v1 + "/knowledge-bases", s.listKnowledgeBases},
		{http.MethodGet, kb, s.getKnowledgeBase},
		{http.MethodPatch, kb, s.updateKnowledgeBase},
		{http.MethodDelete, kb, s.deleteKnowledgeBase},

		{http.MethodGet, kb + "/metadata", s.listFields},
		{http.MethodPost, kb + "/embedder", s.changeEmbedder},
		{http.MethodGet, kb + "/embedder", s.getEmbedder},
		{http.MethodPost, kb + "/embedder/switch", s.switchEmbedder},
		{http.MethodPost, kb + "/embedder/rollback", s.rollBackEmbedder},
		{http.MethodPost, kb + "/embedder/discard", s.discardEmbedder},

		{http.MethodPost, kb + "/reindex", s.reindex},
		{http.MethodPost, kb + "/preview", s.preview},
		{http.MethodPost, kb + "/documents", s.addDocuments},
		{http.MethodGet, kb + "/documents", s.listDocuments},
		{http.MethodPost, kb + "/documents/delete", s.deleteDocuments},
		{http.MethodGet, kb + "/sources", s.listSources},
		{http.MethodGet, doc, s.getDocument},
		{http.MethodPatch, doc, s.updateDocument},
		{http.MethodDelete, doc, s.deleteDocument},
		{http.MethodPost, doc + "/refresh", s.refreshDocument},
		{http.MethodPatch, doc + "/refresh", s.scheduleRefresh},
		{http.MethodGet, doc + "/chunks", s.listChunks},
		{http.MethodGet, doc + "/content", s.getContent},
		{http.MethodGet, doc + "/text", s.getText},

		{http.MethodGet, v1 + "/jobs", s.listJobs},
		{http.MethodPost, v1 + "/jobs/retry", s.retryFailed},
		{http.MethodGet, v1 + "/jobs/:id", s.getJob},
		{http.MethodPost, v1 + "/jobs/:id/cancel", s.cancelJob},
		{http.MethodPost, v1 + "/jobs/:id/retry", s.retryJob},
		{http.MethodGet, v1 + "/jobs/:id/events", s.watchJob},

		{http.MethodPost, v1 + "/retrieve", s.retrieve},
		{http.MethodPost, v1 + "/ask", s.ask},

		{http.MethodPost, v1 + "/evaluations", s.createEvaluation},
		{http.MethodGet, v1 + "/evaluations", s.listEvaluations},
		{http.MethodGet, v1 + "/evaluations/:id", s.getEvaluation},
		{http.MethodDelete, v1 + "/evaluations/:id", s.deleteEvaluation},
		{http.MethodPost, v1 + "/evaluations/:id/cancel", s.cancelEvaluation},
		{http.MethodGet, v1 + "/evaluations/:id/queries", s.getEvaluationQueries},
		{http.MethodGet, v1 + "/evaluations/:id/report", s.getEvaluationReport},
		{http.MethodGet, v1 + "/evaluations/:id/compare", s.compareEvaluations},

		{http.MethodGet, v1 + "/conversations", s.listConversations},
		{http.MethodGet, v1 + "/conversations/:id", s.getConversation},
		{http.MethodDelete, v1 + "/conversations/:id", s.deleteConversation},
		{http.MethodGet, v1 + "/runs/:id", s.getRun},
		{http.MethodPost, v1 + "/runs/:id/resume", s.resumeRun},

		{http.MethodGet, v1 + "/agents", s.listAgents},
		{http.MethodPut, v1 + "/agents/:name", s.putAgent},
		{http.MethodDelete, v1 + "/agents/:name", s.deleteAgent},
		{http.MethodGet, v1 + "/strategies", s.listStrategies},
		{http.MethodGet, v1 + "/tools", s.listTools},

		{http.MethodPost, v1 + "/backup", s.backup},
		{http.MethodPost, v1 + "/verify", s.verify},

		{http.MethodGet, "/healthz", s.health},
		{http.MethodGet, "/readyz", s.ready},
		{http.MethodGet, "/metrics", s.serveMetrics},
		{http.MethodGet, "/openapi.json", s.serveOpenAPI},
	}
}

// param returns a path parameter as the client meant it. echo matches the
// escaped path where there is one, and leaves parameters as they stand in it.
func param(c echo.Context, name string) string {
	value := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return value
	}
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}
