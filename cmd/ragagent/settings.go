package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"gopkg.in/yaml.v3"
)

// dataFlags say where the data is and how to reach it. Every command that works
// on data has them.
type dataFlags struct {
	Data      string `help:"Folder that holds everything; ${default} if not given." default:"ragagent-data" env:"RAGAGENT_DATA" placeholder:"DIR"`
	MaxMemory int64  `help:"Ceiling of the memory of the search indexes in MiB; beyond it uploads are refused. 0 means half of the machine's." env:"RAGAGENT_MAX_MEMORY" placeholder:"MIB"`
}

// reachFlags are for commands that can also talk to a running server.
type reachFlags struct {
	dataFlags
	Server string `help:"Talk to this server instead of opening the data folder, for example http://127.0.0.1:8080." env:"RAGAGENT_SERVER" placeholder:"URL"`

	fetch fetchFlags `kong:"-"` // of a server in this process
}

// modelFlags choose the models.
type modelFlags struct {
	LLM        string  `name:"llm" help:"Model that answers: 'extractive' (built in), 'ollama/NAME' or 'openai/NAME'." default:"extractive" env:"RAGAGENT_LLM" placeholder:"P/NAME"`
	LLMURL     string  `name:"llm-url" help:"Base URL of the 'openai/' model that answers, on any server that speaks OpenAI's API; its key comes from RAGAGENT_LLM_KEY." env:"RAGAGENT_LLM_URL" placeholder:"URL"`
	RefuseAt   float64 `help:"Log-odds that the sources hold an answer at or below which the built-in answerer refuses; 0 as measured, higher refuses more, -20 nothing." default:"0" env:"RAGAGENT_REFUSE_AT" placeholder:"Z"`
	Embedder   string  `help:"Model that embeds for new knowledge bases: 'builtin', 'ollama/NAME' or 'openai/NAME'." default:"builtin" env:"RAGAGENT_EMBEDDER" placeholder:"P/NAME"`
	OllamaHost string  `help:"Address of the Ollama server; ${default} if not given." default:"http://127.0.0.1:11434" env:"RAGAGENT_OLLAMA_HOST,OLLAMA_HOST" placeholder:"URL"`

	rankFlags

	EmbedderURL         string  `help:"Base URL of the 'openai/' embedders, any server that speaks OpenAI's API; its key comes from RAGAGENT_EMBEDDER_KEY." env:"RAGAGENT_EMBEDDER_URL" placeholder:"URL"`
	EmbedderDimensions  int     `help:"Shorter vectors, of a model that allows it; 0 leaves them whole." env:"RAGAGENT_EMBEDDER_DIMENSIONS" placeholder:"N"`
	EmbedderQueryPrefix *string `help:"What the embedder wants before a question, where that is not known for the model." env:"RAGAGENT_EMBEDDER_QUERY_PREFIX" placeholder:"TEXT"`
	EmbedderTextPrefix  *string `help:"What the embedder wants before a text." env:"RAGAGENT_EMBEDDER_TEXT_PREFIX" placeholder:"TEXT"`
}

// yamlSettings reads a configuration file: flag names as keys, at the top for
// all commands or under a command's name for that one. A key that is no flag is
// an error, so that a typing mistake does not pass unnoticed.
func yamlSettings(r io.Reader) (kong.Resolver, error) {
	var root map[string]any
	if err := yaml.NewDecoder(io.LimitReader(r, 1<<20)).Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return &yamlResolver{root: root}, nil
}

type yamlResolver struct{ root map[string]any }

// Validate refuses keys that name neither a flag nor a command.
func (y *yamlResolver) Validate(app *kong.Application) error {
	known := map[string]map[string]bool{"": {}}
	for _, cmd := range app.Children {
		known[cmd.Name] = map[string]bool{}
		for _, f := range cmd.Flags {
			known[cmd.Name][f.Name] = true
			known[""][f.Name] = true
		}
	}
	for key, value := range y.root {
		section, isSection := value.(map[string]any)
		if !isSection || known[key] == nil {
			if !known[""][key] {
				return fmt.Errorf("configuration: %q is no setting and no command", key)
			}
			continue
		}
		for name := range section {
			if !known[key][name] {
				return fmt.Errorf("configuration: %q is no setting of %q", name, key)
			}
		}
	}
	return nil
}

// Resolve gives a flag its value from the file, unless a variable sets it.
func (y *yamlResolver) Resolve(_ *kong.Context, parent *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	if parent != nil && parent.Command != nil {
		if section, ok := y.root[parent.Command.Name].(map[string]any); ok {
			if v, ok := section[flag.Name]; ok {
				return scalar(v), nil
			}
		}
	}
	if v, ok := y.root[flag.Name]; ok {
		return scalar(v), nil
	}
	return nil, nil
}

// scalar renders a YAML value as kong's mappers read it.
func scalar(v any) any {
	if list, ok := v.([]any); ok {
		parts := make([]string, len(list))
		for i, e := range list {
			parts[i] = fmt.Sprint(e)
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v)
}
