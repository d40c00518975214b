package llm

import "errors"

// Capabilities says what a model can do.
type Capabilities struct {
	// ToolCalls: it asks for the tools of a Request in a form of its own.
	ToolCalls bool
	// Prompts: it follows instructions in words, as every language model does.
	Prompts bool
	// Format: it keeps to Request.Format.
	Format bool
}

// Capable is implemented by models that know what they can do.
type Capable interface {
	Capabilities() Capabilities
}

// CapabilitiesOf returns what a model says it can do; of one that does not say,
// that it calls tools, follows prompts and knows no formats.
func CapabilitiesOf(m Model) Capabilities {
	if c, ok := m.(Capable); ok {
		return c.Capabilities()
	}
	return Capabilities{ToolCalls: true, Prompts: true}
}

// ErrNoToolCalls is wrapped by the error of a model that was offered tools and
// cannot call any.
var ErrNoToolCalls = errors.New("the model cannot call tools")
