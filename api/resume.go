package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/agent"
	"ragagent/store"
)

// savedScope is agent.Input.Scope: what a run was asked with, for the server
// that resumes it. The tools are bound anew, so that a knowledge base that is
// gone meanwhile is not reached.
type savedScope struct {
	Agent          string          `json:"agent,omitempty"`
	Strategy       string          `json:"strategy,omitempty"`
	KnowledgeBases []string        `json:"knowledge_bases"` // ids
	TopK           int             `json:"top_k,omitempty"`
	Filter         json.RawMessage `json:"filter,omitempty"`
}

func scopeJSON(in askRequest, scope Scope) (json.RawMessage, error) {
	saved := savedScope{Agent: in.Agent, Strategy: in.Strategy, TopK: scope.TopK, Filter: in.Filter}
	for _, kb := range scope.KnowledgeBases {
		saved.KnowledgeBases = append(saved.KnowledgeBases, kb.ID)
	}
	raw, err := json.Marshal(saved)
	if err != nil {
		return nil, fmt.Errorf("encode the scope of the run: %w", err)
	}
	return raw, nil
}

type resumeRequest struct {
	Decisions []agent.Decision `json:"decisions"`
	Stream    bool             `json:"stream"`
}

// resumeRun goes on with a run that waits, or that a dead server left behind.
// It answers as ask does.
func (s *Server) resumeRun(c echo.Context) error {
	var in resumeRequest
	body, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.cfg.AskTimeout)
	defer cancel()
	if err := s.wantReady(); err != nil {
		return err
	}
	asked, err := s.resumedOf(ctx, param(c, "id"), in.Decisions)
	if err != nil {
		return err
	}
	return s.answer(ctx, c, fingerprintOf(body), asked, in.Stream)
}

// resumedOf binds the agent and the tools that a run had.
func (s *Server) resumedOf(ctx context.Context, id string, decisions []agent.Decision) (asked, error) {
	checkpoint, err := s.cfg.Records.Checkpoint(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		if _, ended := s.cfg.Records.Run(ctx, id); ended == nil {
			return asked{}, fmt.Errorf("%w: run %s has ended", store.ErrConflict, id)
		}
	}
	if err != nil {
		return asked{}, missing(err, "run", id)
	}
	var saved savedScope
	if err := json.Unmarshal(checkpoint.Scope, &saved); err != nil {
		return asked{}, fmt.Errorf("%w: run %s was saved without its scope", store.ErrConflict, id)
	}
	answerer, declared, err := s.agentOf(saved.Agent)
	if err != nil {
		return asked{}, err
	}
	scope := Scope{TopK: saved.TopK}
	if scope.Filter, err = store.ParseFilter(saved.Filter); err != nil {
		return asked{}, err
	}
	if scope.KnowledgeBases, err = s.scopeOf(ctx, saved.KnowledgeBases); err != nil {
		return asked{}, err
	}
	resume := agent.Resume{RunID: id, Decisions: decisions}
	if resume.Strategy, err = s.strategyOf(saved.Strategy); err != nil {
		return asked{}, err
	}
	if resume.Tools, err = s.toolsOf(scope, declared); err != nil {
		return asked{}, err
	}
	return asked{resume.Tools, func(ctx context.Context) iter.Seq2[agent.Event, error] { return answerer.Resume(ctx, resume) }}, nil
}

// unfinished is a run that has not ended, as getRun shows it.
func unfinished(c store.Checkpoint) (runAnswer, error) {
	waits, err := agent.Interrupts(c.State)
	if err != nil {
		return runAnswer{}, err
	}
	out := runOf(store.Run{
		ID: c.RunID, ConversationID: c.ConversationID, Agent: c.Agent, Question: c.Question, Steps: c.Steps,
		StartedAt: c.StartedAt, EndedAt: time.Time{},
	})
	out.Status, out.Interrupts = string(c.Status), waits
	if c.Status != store.CheckpointRunning {
		out.FinishedReason = string(agent.Interrupted)
	}
	return out, nil
}

func (s *Server) getRun(c echo.Context) error {
	ctx, id := c.Request().Context(), param(c, "id")
	run, err := s.cfg.Records.Run(ctx, id)
	if err == nil {
		return reply(c, http.StatusOK, runOf(run))
	}
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	checkpoint, err := s.cfg.Records.Checkpoint(ctx, id)
	if err != nil {
		return missing(err, "run", id)
	}
	out, err := unfinished(checkpoint)
	if err != nil {
		return err
	}
	return reply(c, http.StatusOK, out)
}
