package api

import (
	"net/url"
	"strconv"
	"strings"

	"ragagent/store"
)

// listing is the answer of every listing. NextCursor is null on the last page.
type listing[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// pageOf reads limit and cursor. The cursor is the id of the last row seen,
// which starts with prefix; anything else never came from this server.
func pageOf(query url.Values, prefix string) (store.Page, error) {
	limit, err := limitOf(query)
	if err != nil {
		return store.Page{}, err
	}
	cursor := query.Get("cursor")
	if cursor != "" && !validID(cursor, prefix) {
		return store.Page{}, invalidField("cursor", "is not one this server gave: take next_cursor of the page before")
	}
	return store.Page{Limit: limit, After: cursor}, nil
}

func limitOf(query url.Values) (int, error) {
	given := query.Get("limit")
	if given == "" {
		return store.DefaultPage, nil
	}
	limit, err := strconv.Atoi(given)
	if err != nil || limit < 1 || limit > store.MaxPage {
		return 0, invalidField("limit", "must be a whole number from 1 to %d", store.MaxPage)
	}
	return limit, nil
}

func validID(id, prefix string) bool {
	rest, ok := strings.CutPrefix(id, prefix+"_")
	return ok && rest != "" && len(rest) <= 64 && strings.Trim(rest, "0123456789abcdef") == ""
}

// probe asks the store for one row more than the client wants, where the
// store's own bound lets it, to know whether another page follows.
func probe(p store.Page) store.Page {
	p.Limit = min(p.Limit+1, store.MaxPage)
	return p
}

// listOf cuts rows that were read with probe(page) to the page and translates them.
func listOf[R, T any](rows []R, page store.Page, id func(R) string, translate func(R) T) listing[T] {
	more := len(rows) > page.Limit || page.Limit == store.MaxPage && len(rows) == store.MaxPage
	rows = rows[:min(len(rows), page.Limit)]
	out := listing[T]{Data: make([]T, len(rows))}
	for i, row := range rows {
		out.Data[i] = translate(row)
	}
	if more {
		next := id(rows[len(rows)-1])
		out.NextCursor = &next
	}
	return out
}
