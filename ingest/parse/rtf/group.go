package rtf

// destination says what becomes of the text of a group.
type destination byte

const (
	body    destination = iota
	skipped             // it is no text of the document
	fonts
	styles
	info   // the group of properties itself
	detail // one property
	marker // a list item's bullet or number
	aside  // a note or text box, which follows the paragraph it stands in
)

// group is the state that ends with a closing brace.
type group struct {
	dest   destination
	begins bool // nothing of it has been read but \*
	star   bool // \* has been read: what is not known is to be skipped
	uc     int  // bytes that stand for a \u where Unicode is not known
	font   int
	hidden bool
	// shared by what a paragraph is
	paragraph format
}

// format is what is said of a paragraph.
type format struct {
	style   int // -1 for none
	outline int // level from 0; -1 for none
	table   bool
	item    bool // it is in a list
	level   int  // of the list, from 0
}

var plainParagraph = format{style: -1, outline: -1}

// destinations are the groups that are not simply text, by the word they begin
// with.
var destinations = map[string]destination{
	"fonttbl": fonts, "stylesheet": styles, "info": info,
	"listtext": marker, "pntext": marker,
	"footnote": aside, "shptxt": aside,

	"colortbl": skipped, "pict": skipped, "objdata": skipped, "objclass": skipped, "objname": skipped,
	"header": skipped, "headerl": skipped, "headerr": skipped, "headerf": skipped,
	"footer": skipped, "footerl": skipped, "footerr": skipped, "footerf": skipped,
	"fldinst": skipped, "ftnsep": skipped, "ftnsepc": skipped, "aftnsep": skipped, "aftnsepc": skipped, "ftncn": skipped, "aftncn": skipped,
	"annotation": skipped, "atnid": skipped, "atnauthor": skipped, "bkmkstart": skipped, "bkmkend": skipped,
	"tc": skipped, "tcn": skipped, "xe": skipped, "rxe": skipped, "private": skipped, "template": skipped,
	"nonshppict": skipped, "nonesttables": skipped, "sp": skipped, "do": skipped, "shprslt": skipped,
	"listtable": skipped, "listoverridetable": skipped, "revtbl": skipped, "rsidtbl": skipped,
	"themedata": skipped, "datastore": skipped, "xmlnstbl": skipped, "latentstyles": skipped, "filetbl": skipped,
}

// starred are the groups marked with \* whose text is wanted nevertheless.
var starred = map[string]destination{
	"shpinst": body, "ud": body, "fldrslt": body, "shptxt": aside, "footnote": aside, "pntext": marker, "listtext": marker,
	"pn": skipped, "cs": body, "nesttableprops": skipped,
}

// details are the properties of the info group.
var details = map[string]string{
	"title": "title", "author": "author", "subject": "subject", "keywords": "keywords",
	"company": "company", "manager": "manager", "category": "category", "doccomm": "description",
	"creatim": "created", "revtim": "modified",
}
