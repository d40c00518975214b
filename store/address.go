package store

import (
	"context"
	"time"
)

// Kinds of jobs that fetch their document before it is ingested.
const (
	JobFetch = "fetch" // one page or file
	JobCrawl = "crawl" // the pages of a site, and then the one it began with
)

// StageFetch comes before the others: done and total count bytes, of a crawl
// pages. total is 0 where the server does not say.
const StageFetch Stage = "fetch"

// Address is a URL that a document comes from. A knowledge base has each once.
type Address struct {
	KnowledgeBaseID    string
	DocumentID         string
	URL                string // normalised
	FinalURL           string // after redirects; "" before the first fetch
	ETag, LastModified string // of the content that was fetched last; may be empty. "sha256:..." is of an archive whose server gave none
	FetchedAt          time.Time
	Refresh            time.Duration // between two fetches; 0 for never again
	NextAt             time.Time     // zero for never
	GoneSince          time.Time     // when the page was first found missing; zero while it is there
	Failures           int           // in a row
	Error              string        // of the latest fetch; "" if it went well
}

// Fetched is the content that was fetched for a document that had none.
type Fetched struct {
	Name    string // 1..MaxName bytes
	MIME    string // as the server said
	Bytes   int64
	SHA256  string
	Address Address // DocumentID is ignored
}

// CrawlPage is a page that a crawl knows.
type CrawlPage struct {
	URL     string
	Depth   int
	Asked   bool   // for its content
	Kept    bool   // it became a document
	Content string // digest of it, hexadecimal; "" for none
}

// Addresses keeps URLs and the jobs that fetch. All methods may be called
// concurrently.
type Addresses interface {
	// PutAddress stores an address in the place of what is known of its URL.
	// ErrNotFound if there is no such document.
	PutAddress(ctx context.Context, a Address) error
	// Address returns what is known of a URL. ErrNotFound.
	Address(ctx context.Context, kb, url string) (Address, error)
	// DocumentAddresses returns the address of each of these documents that has
	// one, by the document's id; of several, the first by URL.
	DocumentAddresses(ctx context.Context, documents []string) (map[string]Address, error)
	// UpdateAddress lets change modify what is known of a URL, in one
	// transaction; which document it is stays. ErrNotFound.
	UpdateAddress(ctx context.Context, kb, url string, change func(*Address)) (Address, error)
	// DueAddress takes the address that is longest due at now and puts it off
	// until hold, so that nobody else takes it. One that was never fetched is not
	// due: its job does that. ErrNotFound if none is due.
	DueAddress(ctx context.Context, now, hold time.Time) (Address, error)

	// AddRefreshed is Documents.AddDocument for what a URL has brought again,
	// whose address goes with it, in the same transaction. ErrNotFound if the
	// knowledge base has no such address, as its document was deleted: then
	// nothing is stored.
	AddRefreshed(ctx context.Context, doc Document, job Job, url string) (Added, error)

	// LeaseFetch is Jobs.Lease for jobs that have to fetch as kind says.
	LeaseFetch(ctx context.Context, kind string, now time.Time, lease time.Duration) (Job, error)
	// PostponeFetch gives a running job back that is not to be taken before a
	// time; the reason is the job's Error meanwhile. ErrNotFound; ErrConflict if
	// it is no longer running.
	PostponeFetch(ctx context.Context, jobID string, until time.Time, reason string) error
	// PutFetched gives the document of a running job its content, and the job to
	// those who parse. If another document has the content, the job is that
	// document's from now on and ready, and its own document is deleted. An
	// address that was given a NextAt before its first fetch keeps it.
	// ErrNotFound; ErrConflict if the job is no longer running.
	PutFetched(ctx context.Context, jobID string, f Fetched) (duplicate bool, err error)

	// PutCrawlPages writes down that asked was asked for, and what it led to, in
	// one transaction; pages that are known stay as they are, but asked.
	PutCrawlPages(ctx context.Context, jobID string, asked CrawlPage, found []CrawlPage) error
	// CrawlPages lists what a crawl knows, in the order it came to know it.
	CrawlPages(ctx context.Context, jobID string) ([]CrawlPage, error)
	// EndCrawl forgets the pages of a running crawl, which becomes a fetch.
	EndCrawl(ctx context.Context, jobID string) error
}
