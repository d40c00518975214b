package catalog

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/store"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// MaxAgents bounds the files of a folder that are read.
const MaxAgents = 200

// Config of a Catalog.
type Config struct {
	// Folder keeps the agents of the users, a file NAME.yaml each. It is made
	// when the first one is put. "" keeps none.
	Folder string
	// Base is what all agents have: model, records, texts, clock. Required: its
	// Model.
	Base agent.Config
	// OpenModel opens the model that a declaration names; nil refuses all.
	OpenModel func(name string) (llm.Model, error)
	// Strategies by name; nil: function_call and react.
	Strategies map[string]agent.Strategy
	// Tools are the names of the tools that a run may be given.
	Tools []string
}

// Catalog finds agents by name. It may be used concurrently.
type Catalog struct {
	cfg        Config
	strategies []string

	mu      sync.Mutex
	entries map[string]*entry
	seen    map[string]stamp // files of the folder, as they were read
}

// stamp tells whether a file has changed.
type stamp struct {
	modified time.Time
	size     int64
}

// entry is an agent, or a file that is none.
type entry struct {
	Entry
	file string // "" for a default
}

// Entry is one agent of a catalog.
type Entry struct {
	Declaration
	Source  string `json:"source"` // the YAML
	Default bool   `json:"default"`
	// Problem is why the file, as it is now, is not used; the version before it
	// is, if there was one in this process.
	Problem string `json:"problem,omitempty"`
}

// Runner answers questions: agent.Agent and agent.Team do.
type Runner interface {
	Run(ctx context.Context, in agent.Input) iter.Seq2[agent.Event, error]
	Resume(ctx context.Context, in agent.Resume) iter.Seq2[agent.Event, error]
}

// New reads the defaults and the folder. Defaults that do not fit cfg are an
// error; files of users that do not are listed with their problem.
func New(cfg Config) (*Catalog, error) {
	if cfg.Base.Model == nil {
		return nil, errors.New("a catalog needs a model")
	}
	if cfg.Strategies == nil {
		cfg.Strategies = map[string]agent.Strategy{"function_call": agent.FunctionCalling{}, "react": agent.ReAct{}}
	}
	c := &Catalog{cfg: cfg, entries: map[string]*entry{}, seen: map[string]stamp{}}
	for name := range cfg.Strategies {
		c.strategies = append(c.strategies, name)
	}
	slices.Sort(c.strategies)
	if err := c.loadDefaults(""); err != nil {
		return nil, err
	}
	return c, nil
}

// loadDefaults adds the agents that come with the server; only one if named.
func (c *Catalog) loadDefaults(only string) error {
	files, err := fs.Glob(defaults, "defaults/*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := defaults.ReadFile(file)
		if err != nil {
			return err
		}
		d, err := Parse(file, source, c.cfg.Tools, c.strategies)
		if err != nil {
			return err
		}
		if only == "" || d.Name == only {
			c.entries[d.Name] = &entry{Entry: Entry{Declaration: d, Source: string(source), Default: true}}
		}
	}
	return nil
}

// Entries are all agents by name, as the files are now.
func (c *Catalog) Entries() ([]Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		return nil, err
	}
	all := make([]Entry, 0, len(c.entries))
	for _, e := range c.entries {
		all = append(all, e.Entry)
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Open makes the agent of a name, or the team that it begins. store.ErrNotFound;
// *Error if its declaration, or one that it hands off to, does not fit.
func (c *Catalog) Open(name string) (Runner, Declaration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		return nil, Declaration{}, err
	}
	e, ok := c.entries[name]
	if !ok {
		return nil, Declaration{}, fmt.Errorf("agent %q: %w", name, store.ErrNotFound)
	}
	runner, err := c.build(e)
	return runner, e.Declaration, err
}

// reload reads the files that have changed. One that is broken leaves what was
// there before in its place.
func (c *Catalog) reload() error {
	if c.cfg.Folder == "" {
		return nil
	}
	files, err := os.ReadDir(c.cfg.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the folder of agents: %w", err)
	}
	there := map[string]bool{}
	for _, f := range files {
		name, isYAML := strings.CutSuffix(f.Name(), ".yaml")
		info, err := f.Info()
		if !isYAML || err != nil || !info.Mode().IsRegular() || !namePattern.MatchString(name) || len(there) == MaxAgents {
			continue
		}
		there[name] = true
		now := stamp{info.ModTime(), info.Size()}
		if c.seen[name] != now {
			c.read(name)
			c.seen[name] = now
		}
	}
	for name := range c.seen {
		if !there[name] {
			delete(c.seen, name)
			delete(c.entries, name)
			if err := c.loadDefaults(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// read takes one file over.
func (c *Catalog) read(name string) {
	file := filepath.Join(c.cfg.Folder, name+".yaml")
	d, source, err := c.parseFile(file, name)
	before := c.entries[name]
	switch {
	case err == nil:
		c.entries[name] = &entry{Entry: Entry{Declaration: d, Source: source}, file: file}
	case before != nil:
		kept := *before
		kept.Problem, kept.file = err.Error(), file
		c.entries[name] = &kept
	default:
		c.entries[name] = &entry{Entry: Entry{Declaration: Declaration{Name: name}, Source: source, Problem: err.Error()}, file: file}
	}
}

func (c *Catalog) parseFile(file, name string) (Declaration, string, error) {
	f, err := os.Open(file)
	if err != nil {
		return Declaration{}, "", err
	}
	defer f.Close()
	source := make([]byte, MaxSource+1)
	n, err := readFull(f, source)
	if err != nil {
		return Declaration{}, "", err
	}
	d, err := c.parse(filepath.Base(file), name, source[:n])
	return d, string(source[:n]), err
}

// parse is Parse for the file of a name.
func (c *Catalog) parse(file, name string, source []byte) (Declaration, error) {
	d, err := Parse(file, source, c.cfg.Tools, c.strategies)
	if err == nil && d.Name != name {
		err = &Error{File: file, Line: 1, Field: "name", Reason: fmt.Sprintf("it is %q, and the agent is kept as %q: make them the same", d.Name, name)}
	}
	return d, err
}
