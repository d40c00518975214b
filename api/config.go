package api

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"net/url"
	"runtime"
	"time"

	"ragagent/agent"
	"ragagent/agent/tool"
	"ragagent/ingest"
	"ragagent/retrieval"
	"ragagent/store"
)

// Config wires a Server. Records, Blobs, Ingest, Retriever, Agent and Tools
// are required; every other zero value is the default named beside it.
type Config struct {
	Records Records
	Blobs   store.Blobs
	Ingest  Ingest
	// Addresses makes documents of URLs; nil refuses them.
	Addresses Addresses
	Retriever retrieval.Retriever
	Agent     Agent
	// Agents are others that a request may name; nil: none.
	Agents Agents
	// Tools returns what the agent may call for one question. What they can
	// reach is fixed here, by the server: never by a model or a document.
	Tools func(Scope) ([]tool.Tool, error)
	// Strategies a request may ask for, by name; nil: function_call and react.
	Strategies map[string]agent.Strategy

	// Fields describes what the documents of a knowledge base, given by its id,
	// can be filtered by, with so many values of each field; nil: nothing.
	Fields func(kbID string, values int) []retrieval.Field

	// DenseWeight returns what the vectors of a knowledge base count beside its
	// words; nil: not told.
	DenseWeight func(kb store.KnowledgeBase) retrieval.DenseWeight

	// Evaluations measures retrieval; nil: not offered.
	Evaluations Evaluations

	// Page is the web page: index.html and assets/. nil, or one without
	// index.html, shows a short message instead.
	Page fs.FS
	// Ready tells how far the search indexes are loaded; nil: always ready.
	Ready func() Readiness
	// Quarantined returns why a knowledge base, given by its id, is not
	// searched (*ingest.QuarantineError), nil if it is; nil: all are.
	Quarantined func(kbID string) error
	// Backup writes a backup of everything (store/backup); nil: not offered.
	Backup func(ctx context.Context, w io.Writer) error
	// Verify compares everything with everything, or looks for what is left of
	// deleted documents; nil: not offered.
	Verify func(ctx context.Context, deleted bool) (ingest.Report, error)
	// Hosts are names the server may be addressed by beside localhost and IP
	// addresses; a request for another is refused, which is what keeps a web
	// page from reaching a local server by DNS rebinding. "*" allows all.
	Hosts []string
	// Origins are web origins ("https://app.example") whose pages may call the
	// server from a browser, beside its own.
	Origins []string
	Log     *slog.Logger // discarded
	Now     func() time.Time

	MaxJSONBytes       int64         // of a JSON request; 1 MiB
	MaxTextBytes       int64         // of a JSON request that brings a document's text; 32 MiB
	MaxFileBytes       int64         // of one uploaded file; 512 MiB
	MaxFiles           int           // of one upload; 100
	MaxUploadBytes     int64         // of all files of one upload; 2 GiB
	SpoolDir           string        // where uploads wait until they are read to their end; os.TempDir()
	MaxAsks            int           // answered at a time; 16
	MaxRetrieves       int           // answered at a time; twice the number of cores
	MaxQueue           int           // of either, waiting; 256
	QueueTimeout       time.Duration // longest wait there; 30 seconds
	AskTimeout         time.Duration // of one answer; 15 minutes, so that the agent's own budget ends it first
	RetrieveTimeout    time.Duration // of one retrieval; 1 minute
	ShutdownTimeout    time.Duration // running requests get to end; 10 seconds
	IdempotencyEntries int           // answers remembered for Idempotency-Key; 1000
	MaxConnections     int           // of Serve, open at a time; 1000

	patience patience // with slow clients; defaultPatience
}

// Scope is what one question may see.
type Scope struct {
	KnowledgeBases []store.KnowledgeBase // at least one
	TopK           int                   // 0 means the knowledge base's default
	Filter         *store.Filter         // documents that may be found; nil for all
	ScoreThreshold float64               // 0 means the knowledge base's default
	NoRerank       bool
}

// Readiness is how far the search indexes are loaded.
type Readiness struct {
	Ready  bool   `json:"ready"`
	Done   int    `json:"done"`             // knowledge bases loaded
	Total  int    `json:"total"`            // knowledge bases to load; 0 while unknown
	Detail string `json:"detail,omitempty"` // what is going on, for people
}

// Agent answers questions; agent.Agent implements it.
type Agent interface {
	Run(ctx context.Context, in agent.Input) iter.Seq2[agent.Event, error]
	Resume(ctx context.Context, in agent.Resume) iter.Seq2[agent.Event, error]
}

// Ingest changes what there is to search; ingest.Service implements it.
type Ingest interface {
	CreateKnowledgeBase(ctx context.Context, kb store.KnowledgeBase) (store.KnowledgeBase, error)
	UpdateKnowledgeBase(ctx context.Context, idOrName string, change ingest.KnowledgeBaseChange) (store.KnowledgeBase, error)
	DeleteKnowledgeBase(ctx context.Context, idOrName string) error

	ChangeEmbedder(ctx context.Context, kbIDOrName string, req ingest.EmbedderRequest) (store.EmbedderChange, error)
	EmbedderChange(ctx context.Context, kbIDOrName string) (c store.EmbedderChange, waiting string, err error)
	SwitchEmbedder(ctx context.Context, kbIDOrName string) (store.EmbedderChange, error)
	RollBackEmbedder(ctx context.Context, kbIDOrName string) (store.EmbedderChange, error)
	DiscardEmbedder(ctx context.Context, kbIDOrName string) error

	Submit(ctx context.Context, kbIDOrName string, upload ingest.Upload) (ingest.Submitted, error)
	Preview(ctx context.Context, kbIDOrName string, draft ingest.Draft) (ingest.Preview, error)
	// Unpack adds the files of an archive; isArchive false: it is none.
	Unpack(ctx context.Context, kbIDOrName string, upload ingest.Upload, file io.ReaderAt, size int64) (all []ingest.Unpacked, isArchive bool, err error)
	UpdateDocument(ctx context.Context, kbIDOrName, id string, change ingest.DocumentChange) (ingest.Submitted, error)
	DeleteDocument(ctx context.Context, kbIDOrName, id string) error
	ReindexKnowledgeBase(ctx context.Context, kbIDOrName string) (ingest.Reindexed, error)
	DeleteDocuments(ctx context.Context, kbIDOrName string, ids []string) (ingest.Deleted, error)
	RemoveSource(ctx context.Context, kbIDOrName, id string, source store.Source) (gone bool, err error)

	Cancel(ctx context.Context, jobID string) (store.Job, error)
	Retry(ctx context.Context, jobID string) (store.Job, error)
	Watch(ctx context.Context, jobID string) iter.Seq2[store.Job, error]
	// RetryFailed does it to every failed job of a knowledge base, of all for
	// "", and returns how many.
	RetryFailed(ctx context.Context, kbIDOrName string) (int, error)
	// Live returns a job that was read from the records with its progress of
	// this moment, and Waiting why it does not go on, "" if it does.
	Live(job store.Job) store.Job
	Waiting(job store.Job) string
}

// Records is what is read from the record store as it is. The methods keep the
// promises of the contracts in package store that have the same names.
type Records interface {
	KnowledgeBase(ctx context.Context, idOrName string) (store.KnowledgeBase, error)
	KnowledgeBases(ctx context.Context, page store.Page) ([]store.KnowledgeBase, error)
	Document(ctx context.Context, kb, id string) (store.Document, error)
	Documents(ctx context.Context, kb string, page store.Page) ([]store.Document, error)
	Sources(ctx context.Context, kb, origin string, page store.Page) ([]store.SourceState, error)
	DocumentChunks(ctx context.Context, documentID string, from, limit int) ([]store.Chunk, error)

	Job(ctx context.Context, id string) (store.Job, error)
	Jobs(ctx context.Context, filter store.JobFilter, page store.Page) ([]store.Job, error)
	LatestJobs(ctx context.Context, documents []string) (map[string]store.Job, error)
	DocumentAddresses(ctx context.Context, documents []string) (map[string]store.Address, error)
	CountJobs(ctx context.Context) (map[store.Status]int, error)

	Conversation(ctx context.Context, id string) (store.Conversation, error)
	Conversations(ctx context.Context, page store.Page) ([]store.Conversation, error)
	Messages(ctx context.Context, conversationID string, page store.Page) ([]store.Message, error)
	DeleteConversation(ctx context.Context, id string) error
	Run(ctx context.Context, id string) (store.Run, error)
	Checkpoint(ctx context.Context, runID string) (store.Checkpoint, error)

	Evaluation(ctx context.Context, id string) (store.Evaluation, error)
	Evaluations(ctx context.Context, page store.Page) ([]store.Evaluation, error)
	EvaluationPart(ctx context.Context, id string, part store.EvaluationPart) ([]byte, error)
}

func (c Config) withDefaults() (Config, error) {
	if c.Records == nil || c.Blobs == nil || c.Ingest == nil || c.Retriever == nil || c.Agent == nil || c.Tools == nil {
		return c, errors.New("api: records, blobs, ingest, retriever, agent and tools are required")
	}
	if c.Ready == nil {
		c.Ready = func() Readiness { return Readiness{Ready: true} }
	}
	if c.Quarantined == nil {
		c.Quarantined = func(string) error { return nil }
	}
	if c.Fields == nil {
		c.Fields = func(string, int) []retrieval.Field { return nil }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	for _, origin := range c.Origins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			return c, errors.New("api: " + origin + " is not a web origin: write scheme://host[:port]")
		}
	}
	setDefault(&c.MaxJSONBytes, 1<<20)
	setDefault(&c.MaxTextBytes, 32<<20)
	setDefault(&c.MaxFileBytes, 512<<20)
	setDefault(&c.MaxFiles, 100)
	setDefault(&c.MaxUploadBytes, 2<<30)
	if c.Strategies == nil {
		c.Strategies = map[string]agent.Strategy{"function_call": agent.FunctionCalling{}, "react": agent.ReAct{}}
	}
	setDefault(&c.MaxAsks, 16)
	setDefault(&c.MaxRetrieves, 2*runtime.GOMAXPROCS(0))
	setDefault(&c.MaxQueue, 256)
	setDefault(&c.QueueTimeout, 30*time.Second)
	setDefault(&c.AskTimeout, 15*time.Minute)
	setDefault(&c.RetrieveTimeout, time.Minute)
	setDefault(&c.ShutdownTimeout, 10*time.Second)
	setDefault(&c.IdempotencyEntries, 1000)
	setDefault(&c.MaxConnections, 1000)
	if c.patience == (patience{}) {
		c.patience = defaultPatience
	}
	return c, nil
}

func setDefault[N int | int64 | time.Duration](value *N, otherwise N) {
	if *value <= 0 {
		*value = otherwise
	}
}
