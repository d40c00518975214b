package api

import (
	"container/list"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 255

// maxRemembered is the largest answer that is remembered, in bytes. A larger
// one is given once; sending its request again does the work again.
const maxRemembered = 256 << 10

// maxRememberedTotal bounds all remembered answers together, in bytes.
const maxRememberedTotal = 32 << 20

// fingerprint tells requests with the same key apart.
type fingerprint [sha256.Size]byte

// answer is a finished response that can be given again.
type answer struct {
	status int
	body   []byte
}

// idempotency remembers the successful answers to POST requests that carried
// an Idempotency-Key. It lives in memory: bounded in number and
// bytes, the least recently used forgotten first, none after a restart.
type idempotency struct {
	mu      sync.Mutex
	limit   int
	order   *list.List               // of *remembered, most recently used first
	byKey   map[string]*list.Element // running ones too
	keep    time.Duration
	now     func() time.Time
	running int
	bytes   int // of all remembered answers
}

type remembered struct {
	key    string
	print  fingerprint
	answer *answer // nil while the first request is still at work
	at     time.Time
}

func newIdempotency(limit int, now func() time.Time) *idempotency {
	return &idempotency{
		limit: limit,
		order: list.New(),
		byKey: map[string]*list.Element{},
		keep:  24 * time.Hour,
		now:   now,
	}
}

// begin looks up a key. If the answer is known it is returned. Else the caller
// owns the key until it calls finish, with nil if there is nothing to remember.
func (m *idempotency) begin(key string, print fingerprint) (known *answer, finish func(*answer), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.byKey[key]; ok {
		r := e.Value.(*remembered)
		switch {
		case r.answer != nil && m.now().Sub(r.at) > m.keep:
			m.remove(e)
		case r.print != print:
			return nil, nil, newProblem(http.StatusUnprocessableEntity, CodeKeyReused,
				"this Idempotency-Key came with another request before: use a new key for a new request")
		case r.answer == nil:
			p := newProblem(http.StatusConflict, CodeKeyInUse, "the first request with this Idempotency-Key is still at work: ask again when it is done")
			p.retryAfter = time.Second
			return nil, nil, p
		default:
			m.order.MoveToFront(e)
			return r.answer, nil, nil
		}
	}
	e := m.order.PushFront(&remembered{key: key, print: print})
	m.byKey[key] = e
	m.running++
	return nil, func(a *answer) { m.finish(e, a) }, nil
}

func (m *idempotency) finish(e *list.Element, a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running--
	if a == nil || len(a.body) > maxRemembered {
		m.remove(e)
		return
	}
	r := e.Value.(*remembered)
	r.answer, r.at = a, m.now()
	m.bytes += len(a.body)
	// Those at work are bounded by the requests there are; only answers age.
	for old := m.order.Back(); old != nil && (m.order.Len()-m.running > m.limit || m.bytes > maxRememberedTotal); {
		before := old.Prev()
		if old.Value.(*remembered).answer != nil {
			m.remove(old)
		}
		old = before
	}
}

func (m *idempotency) remove(e *list.Element) {
	r := e.Value.(*remembered)
	if r.answer != nil {
		m.bytes -= len(r.answer.body)
	}
	delete(m.byKey, r.key)
	m.order.Remove(e)
}
