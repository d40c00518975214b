package api

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"ragagent/agent/catalog"
	"ragagent/agent/tool"
	"ragagent/store"
)

// Agents keeps agents that are declared; catalog.Catalog implements it.
type Agents interface {
	Entries() ([]catalog.Entry, error)
	Open(name string) (catalog.Runner, catalog.Declaration, error)
	Put(name string, source []byte) (e catalog.Entry, created bool, err error)
	Delete(name string) error
}

// agentOf finds the agent that a request names; "" is the server's own.
func (s *Server) agentOf(name string) (Agent, catalog.Declaration, error) {
	if name == "" {
		return s.cfg.Agent, catalog.Declaration{}, nil
	}
	if s.cfg.Agents == nil {
		return nil, catalog.Declaration{}, notSupported("agent", "this server has no other agents: leave it out")
	}
	runner, declared, err := s.cfg.Agents.Open(name)
	var broken *catalog.Error
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, declared, invalidField("agent", "there is no agent %q: GET /api/v1/agents lists them", name)
	case errors.As(err, &broken):
		return nil, declared, invalidField("agent", "%v", broken)
	}
	return runner, declared, err
}

// toolsOf are the tools of a run, within what its agent says of searching.
func (s *Server) toolsOf(scope Scope, declared catalog.Declaration) ([]tool.Tool, error) {
	if scope.TopK == 0 {
		scope.TopK = declared.TopK
	}
	scope.ScoreThreshold = declared.ScoreThreshold
	scope.NoRerank = declared.Rerank != nil && !*declared.Rerank
	return s.cfg.Tools(scope)
}

func (s *Server) listAgents(c echo.Context) error {
	all := []catalog.Entry{}
	if s.cfg.Agents != nil {
		var err error
		if all, err = s.cfg.Agents.Entries(); err != nil {
			return err
		}
	}
	return reply(c, http.StatusOK, listing[catalog.Entry]{Data: all})
}

// putAgent takes YAML, or JSON, which YAML includes.
func (s *Server) putAgent(c echo.Context) error {
	if s.cfg.Agents == nil {
		return notSupported("agent", "this server keeps no agents")
	}
	source, err := io.ReadAll(http.MaxBytesReader(nil, c.Request().Body, catalog.MaxSource))
	if err != nil {
		return bodyError(err)
	}
	e, created, err := s.cfg.Agents.Put(param(c, "name"), source)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return reply(c, status, e)
}

func (s *Server) deleteAgent(c echo.Context) error {
	name := param(c, "name")
	if s.cfg.Agents == nil {
		return missing(store.ErrNotFound, "agent", name)
	}
	if err := s.cfg.Agents.Delete(name); err != nil {
		return missing(err, "agent", name)
	}
	return c.NoContent(http.StatusNoContent)
}

type strategyAnswer struct {
	Name string `json:"name"`
}

func (s *Server) listStrategies(c echo.Context) error {
	all := []strategyAnswer{}
	for _, name := range slices.Sorted(maps.Keys(s.cfg.Strategies)) {
		all = append(all, strategyAnswer{name})
	}
	return reply(c, http.StatusOK, listing[strategyAnswer]{Data: all})
}

type toolAnswer struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	SideEffect  bool            `json:"side_effect"`
}

// listTools tells what an agent that searches all knowledge bases is offered.
func (s *Server) listTools(c echo.Context) error {
	kbs, err := s.cfg.Records.KnowledgeBases(c.Request().Context(), store.Page{Limit: maxScope})
	if err != nil {
		return err
	}
	tools, err := s.cfg.Tools(Scope{KnowledgeBases: kbs})
	if err != nil {
		return err
	}
	all := []toolAnswer{}
	for _, t := range tools {
		spec := t.Spec()
		all = append(all, toolAnswer{spec.Name, spec.Description, spec.Parameters, spec.SideEffect})
	}
	return reply(c, http.StatusOK, listing[toolAnswer]{Data: all})
}
