package api

import (
	"encoding/json"
	"fmt"

	"ragagent/store"
)

// kindChoice is a field that is a kind, or a boolean: false is "none", true
// leaves it to the knowledge base, as does null.
type kindChoice[K interface {
	~string
	Known() bool
}] string

type (
	rewriteChoice = kindChoice[store.RewriteKind]
	rerankChoice  = kindChoice[store.RerankKind]
)

// UnmarshalJSON implements json.Unmarshaler.
func (c *kindChoice[K]) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "true", "null":
		*c = ""
		return nil
	case "false":
		*c = "none"
		return nil
	}
	var kind string
	if err := json.Unmarshal(raw, &kind); err != nil {
		return fmt.Errorf("must be a boolean or the name of a kind, not %s", raw[:min(len(raw), 40)])
	}
	*c = kindChoice[K](kind)
	return nil
}

// of returns the kind, or that there is to be none; field names it in the error.
func (c kindChoice[K]) of(field string) (kind K, none bool, err error) {
	switch kind = K(c); {
	case kind == "none":
		return "", true, nil
	case kind.Known():
		return kind, false, nil
	}
	return "", false, invalidField(field, "%q is not known", string(c))
}

// lambdaProblem says what is wrong with the weight of relevance in mmr.
func lambdaProblem(lambda float64) error {
	if lambda < 0 || lambda > 1 {
		return invalidField("mmr_lambda", "is %g, allowed are 0 to 1, 0 for the default", lambda)
	}
	return nil
}
