package parse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ragagent/store"
)

// prose is text of the given number of sentences, as articles have it.
func prose(sentences int) string {
	return strings.TrimSpace(strings.Repeat("The committee met again and wrote down what had been decided. ", sentences))
}

func TestHTMLContent(t *testing.T) {
	const menu = `<ul><li><a href=/a>Home</a><li><a href=/b>Products</a><li><a href=/c>About us</a></ul>`
	article := prose(12)
	tests := []struct {
		name, source string
		want         []string
	}{
		{"main", `<header><a href=/>Site</a>` + menu + `</header><div class=teasers><p>Read this as well, and that.</p></div><main><h1>Title</h1><p>` + article + `</p><footer>By Ann, who wrote it.</footer></main><footer><p>Imprint of the site</p></footer>`,
			[]string{"heading1 Title", "paragraph " + article, "paragraph By Ann, who wrote it."}},
		{"role main", `<div role=banner>Site ` + menu + `</div><div role="main"><p>` + article + `</p></div><div role=contentinfo>imprint</div>`, []string{"paragraph " + article}},
		{"an article below its title", `<div><h1>Title</h1></div><p>A teaser.</p><article><p>` + article + `</p></article>`, []string{"heading1 Title", "paragraph " + article}},
		{"a main region with little in it", `<main><p>Loading.</p></main><div><p>` + article + `</p></div>`, []string{"paragraph Loading.", "paragraph " + article}},
		{"a menu without a name", menu + `<p>` + article + `</p>`, []string{"paragraph " + article}},
		{"a page of links", `<h1>All of them</h1>` + strings.Repeat(menu, 3), []string{"heading1 All of them", "list - Home\n- Products\n- About us", "list - Home\n- Products\n- About us", "list - Home\n- Products\n- About us"}},
		{"cookies", `<div id="cookie-banner"><p>We use cookies to make this site better. <a href=/p>More</a></p></div><p>` + article + `</p><div class="social share"><a href=x>Post</a></div>`, []string{"paragraph " + article}},
		{"a page that is called a sidebar", `<div class="sidebar"><p>` + article + `</p></div><p>More.</p>`, []string{"paragraph " + article, "paragraph More."}},
		{"an aside in an article", `<article><p>` + article + `</p><aside><p>A note on the side.</p></aside></article><aside>Other news of the day</aside>`, []string{"paragraph " + article, "paragraph A note on the side."}},
		{"a header of the page", `<header><h1>Title</h1><p>What it is about.</p></header><p>` + article + `</p>`, []string{"heading1 Title", "paragraph What it is about.", "paragraph " + article}},
		{"an aside that never ends", `<p>One.</p><aside><p>` + article, []string{"paragraph One.", "paragraph " + article}},
		{"hidden", `<p>a <span style="display: none">b <span>c</span></span>d</p><section aria-hidden=true>e</section><div style="visibility:hidden"><div>f</div>g</div><p>h</p>`, []string{"paragraph a d", "paragraph h"}},
		{"all of it hidden until a script runs", `<div style="display:none"><p>` + article + `</p></div><p>Wait.</p>`, []string{"paragraph " + article, "paragraph Wait."}},
		{"definitions", `<dl><dt>RAM</dt><dd>Memory</dd><dt>CPU<dd><p>Processor</p><dd>also: core</dl>`, []string{"list - RAM: Memory\n- CPU: Processor\n  also: core"}},
		{"links to headings", `<h2>Part<a class=headerlink href=#part>¶</a></h2><dl><dt>Authors:</dt><dd>Ann</dd></dl>`, []string{"heading2 Part", "list - Authors: Ann"}},
		{"figures", `<figure><img src=x alt="A map of the river and its banks"><figcaption>The river</figcaption></figure><img alt="logo"><img alt="DSC_0001 at the sea.jpg"><a href=/><img alt="Go to the start page"></a>`,
			[]string{"paragraph [Image: A map of the river and its banks]", "paragraph The river"}},
		{"cells over columns and rows", `<table><tr><th rowspan=2>City<th colspan=2>People</tr><tr><th>2019<th>2020</tr><tr><td>Ulm<td>1<td>2</tr></table>`, []string{"table City | People\nCity | 2019 | 2020\nUlm | 1 | 2"}},
		{"code", "<pre><code>a {\n  b\n}</code></pre>", []string{"code a {\n  b\n}"}},
		{"XHTML", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head><body><p/><p>One</p><a id="x"/><textarea/><p>Two</p></body></html>`, []string{"paragraph One", "paragraph Two"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := tt.source
			if !strings.HasPrefix(source, "<?xml") {
				source = "<!DOCTYPE html><title>x</title><body>" + source
			}
			text, err := parseBytes(t, "", []byte(source))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, shown(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHTMLProperties(t *testing.T) {
	text, err := parseBytes(t, "", []byte(`<!DOCTYPE html><html lang="de-DE"><head>
<meta property="og:title" content="The title"><meta property="og:description" content="What it says"><meta name="description" content="What it  says, in short">
<meta property="article:published_time" content="2021-03-04T05:06:07+01:00"><meta property="article:author" content="https://example.org/ann"><meta name="citation_author" content="Ann">
<meta itemprop="dateModified" content="2022-01-01"><link rel="canonical" href="https://example.org/page"><meta property="og:site_name" content="Example"><meta name=keywords content="a, b">
</head><body><p>Text</body></html>`))
	if err != nil {
		t.Fatal(err)
	}
	want := store.Metadata{
		"description": "What it says, in short", "author": "Ann", "date": "2021-03-04T05:06:07+01:00", "created": "2021-03-04T04:06:07Z",
		"modified": "2022-01-01T00:00:00Z", "language": "de-DE", "canonical": "https://example.org/page", "site": "Example", "keywords": []string{"a", "b"},
	}
	if diff := cmp.Diff(want, text.Properties); diff != "" {
		t.Error(diff)
	}
	if text.Title != "The title" {
		t.Errorf("the title is %q", text.Title)
	}
}

// FuzzReadHTML asks that reading ends, within the bounds, with blocks of their
// kinds.
func FuzzReadHTML(f *testing.F) {
	f.Add(htmlFixture)
	f.Add("<main><nav>a</main><p>b<table><tr><td rowspan=9 colspan=9><ul><li><dl><dd>c<span hidden><span>d</span>")
	f.Add("<?xml?><html xmlns='http://www.w3.org/1999/xhtml'><title/><div class=cookie><aside/><h1>x")
	f.Fuzz(func(t *testing.T, text string) {
		r := newReading(formatHTML, 1<<16, 1000)
		readHTML(&r.body, text)
		if r.body.out.Len() > 1<<16 || len(r.body.blocks) > 1000 {
			t.Fatalf("%d bytes in %d blocks", r.body.out.Len(), len(r.body.blocks))
		}
		for _, b := range r.body.blocks {
			if (b.Kind == Heading) != (b.Level >= 1 && b.Level <= 6) {
				t.Fatalf("a %s of level %d", b.Kind, b.Level)
			}
		}
	})
}
