package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"ragagent/agent"
	"ragagent/agent/llm"
	"ragagent/agent/tool"
	"ragagent/store"
)

type askRequest struct {
	Question       string          `json:"question"`
	Messages       []askMessage    `json:"messages"`
	KnowledgeBases []string        `json:"knowledge_bases"`
	ConversationID string          `json:"conversation_id"`
	Agent          string          `json:"agent"`
	Strategy       string          `json:"strategy"`
	MaxIterations  *int            `json:"max_iterations"`
	TopK           *int            `json:"top_k"`
	Filter         json.RawMessage `json:"filter"`
	OutputSchema   json.RawMessage `json:"output_schema"`
	// Interactive: calls with side effects wait for approval, and the agent may
	// ask questions. See resumeRun.
	Interactive bool `json:"interactive"`
	Stream      bool `json:"stream"`
}

type askMessage struct {
	Role    llm.Role `json:"role"`
	Content string   `json:"content"`
}

// maxMessages bounds the history a client brings.
const maxMessages = 1000

// ask answers a question: as one AgentResult, or as a stream of the run's
// events, the last of which is "result" with the same.
func (s *Server) ask(c echo.Context) error {
	var in askRequest
	body, err := decodeJSON(c.Request(), s.cfg.MaxJSONBytes, &in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.cfg.AskTimeout)
	defer cancel()
	asked, err := s.askedOf(ctx, in)
	if err != nil {
		return err
	}
	if err := s.wantReady(); err != nil {
		return err
	}
	return s.answer(ctx, c, fingerprintOf(body), asked, in.Stream)
}

// asked is a run that is about to begin.
type asked struct {
	tools []tool.Tool
	run   func(ctx context.Context) iter.Seq2[agent.Event, error]
}

// answer runs what was asked for and sends its result, or its events.
func (s *Server) answer(ctx context.Context, c echo.Context, print fingerprint, asked asked, streaming bool) error {
	if streaming {
		return s.askStreaming(ctx, c, print, asked)
	}
	return s.once(c, print, func() (int, any, error) {
		leave, err := s.asks.enter(ctx)
		if err != nil {
			return 0, nil, err
		}
		defer leave()
		run := s.metrics.newRun(asked.tools)
		for event, err := range asked.run(ctx) {
			if err != nil {
				return 0, nil, withResult(err, run.result)
			}
			run.saw(event)
		}
		if run.result == nil {
			return 0, nil, errNoResult
		}
		return http.StatusOK, run.result, nil
	})
}

// askStreaming is ask as server-sent events. An answer that is given again for
// its Idempotency-Key is the result alone.
func (s *Server) askStreaming(ctx context.Context, c echo.Context, print fingerprint, asked asked) error {
	known, finish, err := s.claim(c, print)
	if err != nil {
		return err
	}
	stream := newEventStream(c.Response(), time.Tick(heartbeat))
	if known != nil {
		markReplayed(c)
		return stream.send("result", json.RawMessage(known.body))
	}
	var made *answer
	defer func() { finish(made) }()
	leave, err := s.asks.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	run := s.metrics.newRun(asked.tools)
	err = pump(ctx, stream, asked.run,
		func(event agent.Event) error {
			run.saw(event)
			return stream.send(string(event.Kind), event)
		})
	if err == nil && run.result == nil {
		err = errNoResult
	}
	if !stream.opened || run.result == nil {
		return stream.end(withResult(err, run.result))
	}
	told := stream.end(err)
	body, err := encode(run.result)
	if err != nil {
		return err
	}
	if told == nil {
		made = &answer{status: http.StatusOK, body: body}
	}
	if err := stream.send("result", json.RawMessage(body)); err != nil {
		return err
	}
	return told
}

var errNoResult = errors.New("the run ended without a result")

// withResult hands what a run came to along with the error that ended it.
func withResult(err error, result *agent.Result) error {
	if err == nil || result == nil {
		return err
	}
	p := *problemOf(err)
	p.Result = result
	return &p
}

// askedOf checks a request and binds the agent and the tools it asks for.
func (s *Server) askedOf(ctx context.Context, in askRequest) (asked, error) {
	answerer, declared, err := s.agentOf(in.Agent)
	if err != nil {
		return asked{}, err
	}
	if len(in.KnowledgeBases) == 0 {
		in.KnowledgeBases = declared.KnowledgeBases
	}
	input, scope, err := s.inputOf(ctx, in)
	if err != nil {
		return asked{}, err
	}
	if input.OutputSchema == nil {
		if input.OutputSchema, err = declared.Schema(); err != nil {
			return asked{}, invalidField("agent", "output_schema: %v", err)
		}
	}
	if input.Tools, err = s.toolsOf(scope, declared); err != nil {
		return asked{}, err
	}
	if input.Scope, err = scopeJSON(in, scope); err != nil {
		return asked{}, err
	}
	return asked{input.Tools, func(ctx context.Context) iter.Seq2[agent.Event, error] { return answerer.Run(ctx, input) }}, nil
}

func (s *Server) inputOf(ctx context.Context, in askRequest) (agent.Input, Scope, error) {
	question, history, err := conversationOf(in)
	if err != nil {
		return agent.Input{}, Scope{}, err
	}
	input := agent.Input{Question: question, History: history, ConversationID: in.ConversationID, Interactive: in.Interactive}
	if schema := bytes.TrimSpace(in.OutputSchema); len(schema) > 0 && string(schema) != "null" {
		if _, err := tool.CompileSchema(schema); err != nil {
			return input, Scope{}, invalidField("output_schema", "%v", err)
		}
		input.OutputSchema = schema
	}
	if input.Strategy, err = s.strategyOf(in.Strategy); err != nil {
		return input, Scope{}, err
	}
	if input.MaxIterations, err = boundedInt("max_iterations", in.MaxIterations, 1, agent.MaxMaxIterations); err != nil {
		return input, Scope{}, err
	}
	var scope Scope
	if scope.TopK, err = topKOf(in.TopK); err != nil {
		return input, scope, err
	}
	if scope.Filter, err = store.ParseFilter(in.Filter); err != nil {
		return input, scope, err
	}
	if scope.KnowledgeBases, err = s.scopeOf(ctx, in.KnowledgeBases); err != nil {
		return input, scope, err
	}
	if in.ConversationID != "" {
		if _, err := s.cfg.Records.Conversation(ctx, in.ConversationID); err != nil {
			return input, scope, missing(err, "conversation", in.ConversationID)
		}
	}
	return input, scope, nil
}

// strategyOf finds the strategy of a name; nil for none, which leaves it to the
// model.
func (s *Server) strategyOf(name string) (agent.Strategy, error) {
	if name == "" {
		return nil, nil
	}
	strategy, ok := s.cfg.Strategies[name]
	if !ok {
		return nil, invalidField("strategy", "must be one of %s, not %q", strings.Join(slices.Sorted(maps.Keys(s.cfg.Strategies)), ", "), name)
	}
	return strategy, nil
}

// conversationOf takes the question from either field: the last of messages is
// the question, those before it are the history.
func conversationOf(in askRequest) (question string, history []llm.Message, err error) {
	switch {
	case in.Question != "" && len(in.Messages) > 0:
		return "", nil, invalidField("messages", "cannot stand beside question: give one of them")
	case len(in.Messages) > maxMessages:
		return "", nil, invalidField("messages", "has %d entries, at most %d are allowed", len(in.Messages), maxMessages)
	case len(in.Messages) == 0:
		return in.Question, nil, questionProblem("question", strings.TrimSpace(in.Question), agent.MaxQuestionBytes)
	}
	last := len(in.Messages) - 1
	for i, m := range in.Messages {
		if m.Role != llm.User && m.Role != llm.Assistant {
			return "", nil, invalidField(fmt.Sprintf("messages[%d].role", i), "must be user or assistant, not %q", m.Role)
		}
		if i < last {
			history = append(history, llm.Message{Role: m.Role, Content: m.Content})
		}
	}
	field := fmt.Sprintf("messages[%d]", last)
	if in.Messages[last].Role != llm.User {
		return "", nil, invalidField(field+".role", "must be user: the last message is the question")
	}
	question = in.Messages[last].Content
	return question, history, questionProblem(field+".content", strings.TrimSpace(question), agent.MaxQuestionBytes)
}

// wantReady refuses questions while the indexes are not loaded: an answer from
// a part of the documents would look like an answer from all of them.
func (s *Server) wantReady() error {
	state := s.cfg.Ready()
	if state.Ready {
		return nil
	}
	done := fmt.Sprintf("%d of %d", state.Done, state.Total)
	if state.Total == 0 {
		done = fmt.Sprint(state.Done)
	}
	return unavailable(CodeNotReady, time.Second, "the search indexes are being loaded (%s knowledge bases): try again shortly", done)
}
