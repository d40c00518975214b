package parse

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// Texts as people write them: a letter, a notice, a report.
const (
	german  = "Sehr geehrte Damen und Herren,\n\nfür die Lieferung der Möbel am 3. März bedanken wir uns. Leider müssen wir Ihnen mitteilen, daß zwei Stühle beschädigt sind. Über eine baldige Rückmeldung würden wir uns freuen.\n\nMit freundlichen Grüßen\nJürgen Schröder\n"
	french  = "Madame, Monsieur,\n\nNous avons bien reçu votre réclamation concernant la facture du mois de février. Après vérification, il apparaît qu'une erreur a été commise lors de la saisie. Le crédit sera effectué dès que possible sur votre compte. À bientôt.\n"
	spanish = "Estimado señor Núñez:\n\n¿Cuándo llegará el próximo envío? Según la información que tenemos, debería haber llegado el miércoles pasado. Esperamos una respuesta rápida. ¡Muchas gracias por su atención!\n"
	polish  = "Szanowni Państwo,\n\nuprzejmie informujemy, że zamówienie zostało wysłane dnia 5 września. Przesyłka powinna dotrzeć w ciągu trzech dni roboczych. W razie pytań prosimy o kontakt z naszym działem obsługi klienta. Dziękujemy za zaufanie i życzymy miłego dnia. Łódź, ulica Świętej Jadwigi, źródło.\n"
	czech   = "Vážený zákazníku,\n\nděkujeme za Vaši objednávku. Zboží bude odesláno během příštího týdne. Pokud máte jakékoliv dotazy, obraťte se na naše oddělení péče o zákazníky. Přejeme Vám příjemný den. Žluťoučký kůň úpěl ďábelské ódy.\n"
	magyar  = "Tisztelt Hölgyem, Uram!\n\nKöszönjük megrendelését, a küldeményt jövő héten postázzuk. Kérdés esetén ügyfélszolgálatunk készséggel áll rendelkezésére. Üdvözlettel: Szűcs Győző\n"
	lithuan = "Gerbiami klientai,\n\ndėkojame už Jūsų užsakymą. Prekės bus išsiųstos kitą savaitę. Jei turite klausimų, kreipkitės į mūsų klientų aptarnavimo skyrių. Linkime gražios dienos.\n"
	russian = "Уважаемые коллеги!\n\nСообщаем вам, что собрание акционеров состоится в пятницу в десять часов утра. Просим всех участников подготовить отчёты за прошедший год. Повестка дня будет разослана дополнительно. Если у вас есть вопросы, пожалуйста, обращайтесь к секретарю.\n"
	greek   = "Αγαπητοί συνεργάτες,\n\nσας ενημερώνουμε ότι η συνεδρίαση θα πραγματοποιηθεί την Παρασκευή στις δέκα το πρωί. Παρακαλούμε να ετοιμάσετε τις εκθέσεις σας για το προηγούμενο έτος. Για οποιαδήποτε πληροφορία επικοινωνήστε με τη γραμματεία.\n"
	turkish = "Sayın müşterimiz,\n\nsiparişiniz için teşekkür ederiz. Ürünleriniz önümüzdeki hafta içinde gönderilecektir. Sorularınız için müşteri hizmetlerimizle görüşebilirsiniz. İyi günler dileriz. Çalışma saatlerimiz değişmiştir, ağustos ayında öğleden sonra kapalıyız.\n"
	hebrew  = "לקוחות יקרים,\n\nאנו שמחים להודיע לכם כי ההזמנה נשלחה אתמול ותגיע אליכם בתוך שלושה ימי עסקים. אם יש לכם שאלות נוספות אנא פנו אל שירות הלקוחות שלנו. תודה רבה ויום נעים.\n"
	arabic  = "السادة العملاء الكرام،\n\nيسرنا أن نعلمكم بأن الطلب قد تم إرساله يوم أمس وسوف يصل إليكم خلال ثلاثة أيام عمل. إذا كانت لديكم أية أسئلة فلا تترددوا في الاتصال بخدمة العملاء. شكرا جزيلا لكم.\n"
	japan   = "お客様各位\n\n平素は格別のお引き立てを賜り、厚く御礼申し上げます。このたび、当社の営業時間を変更することになりましたのでお知らせいたします。ご不便をおかけしますが、何卒ご了承くださいますようお願い申し上げます。\n"
	korean1 = "고객 여러분께\n\n항상 저희 회사를 이용해 주셔서 감사합니다. 이번 달부터 영업시간이 변경되었음을 알려 드립니다. 불편을 드려 죄송하며 궁금하신 점이 있으시면 고객센터로 연락해 주시기 바랍니다.\n"
	chinese = "尊敬的客户：\n\n感谢您一直以来对我们公司的支持。从本月开始，我们的营业时间将有所调整，具体安排请查看附件。如果您有任何问题，请随时与我们的客服部门联系。祝您工作顺利，身体健康！\n"
	taiwan  = "親愛的客戶：\n\n感謝您一直以來對本公司的支持與愛護。自本月起，我們的營業時間將有所調整，詳細內容請參閱附件。如果您有任何問題，請隨時與我們的客服部門聯絡。敬祝身體健康，萬事如意！\n"
	english = "Dear Sir or Madam,\n\nthe delivery of 3 March has arrived. “Two chairs” are broken – please tell us what to do – it is the customer’s right to know. The café is closed.\n"
)

var realisticTexts = []struct {
	name     string
	encoding encoding.Encoding
	text     string
}{
	{"German in Windows-1252", charmap.Windows1252, german},
	{"German in ISO 8859-15", charmap.ISO8859_15, german},
	{"French in Windows-1252", charmap.Windows1252, french},
	{"Spanish in ISO 8859-1", charmap.ISO8859_1, spanish},
	{"English in Windows-1252", charmap.Windows1252, english},
	{"Polish in Windows-1250", charmap.Windows1250, polish},
	{"Polish in ISO 8859-2", charmap.ISO8859_2, polish},
	{"Czech in Windows-1250", charmap.Windows1250, czech},
	{"Czech in ISO 8859-2", charmap.ISO8859_2, czech},
	{"Hungarian in Windows-1250", charmap.Windows1250, magyar},
	{"Lithuanian in Windows-1257", charmap.Windows1257, lithuan},
	{"Russian in Windows-1251", charmap.Windows1251, russian},
	{"Russian in KOI8-R", charmap.KOI8R, russian},
	{"Russian in ISO 8859-5", charmap.ISO8859_5, russian},
	{"Russian in code page 866", charmap.CodePage866, russian},
	{"Greek in Windows-1253", charmap.Windows1253, greek},
	{"Greek in ISO 8859-7", charmap.ISO8859_7, greek},
	{"Turkish in Windows-1254", charmap.Windows1254, turkish},
	{"Hebrew in Windows-1255", charmap.Windows1255, hebrew},
	{"Arabic in Windows-1256", charmap.Windows1256, arabic},
	{"Japanese in Shift JIS", japanese.ShiftJIS, japan},
	{"Japanese in EUC", japanese.EUCJP, japan},
	{"Japanese in ISO 2022", japanese.ISO2022JP, japan},
	{"Korean in EUC", korean.EUCKR, korean1},
	{"Chinese in GB 18030", simplifiedchinese.GB18030, chinese},
	{"Chinese in Big5", traditionalchinese.Big5, taiwan},
	{"English in UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), english},
	{"German in UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), german},
	{"Russian in UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), russian},
	{"Chinese in UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), chinese},
	{"Japanese in UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), japan},
	{"Korean in UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), korean1},
}

func TestCharsetsOfRealisticTexts(t *testing.T) {
	for _, tt := range realisticTexts {
		t.Run(tt.name, func(t *testing.T) {
			data, err := encoding.ReplaceUnsupported(tt.encoding.NewEncoder()).Bytes([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			for _, length := range []int{len(data), 200} {
				part := data[:min(len(data), length)&^1]
				got, err := parseBytes(t, "letter.txt", part)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := tt.encoding.NewDecoder().Bytes(part)
				if w := normalise(string(want)); strings.TrimRight(got.Body, "\ufffd") != strings.TrimRight(w, "\ufffd") {
					t.Errorf("%d bytes: got %q, want %q (%q)", length, got.Body[:min(len(got.Body), 200)], w[:min(len(w), 200)], got.Warnings)
				}
			}
		})
	}
}

// TestStrayZeros: text into which a few zeros have got is no UTF-16 and no
// binary data; UTF-16 that looks like text byte by byte is found all the same.
func TestStrayZeros(t *testing.T) {
	little := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	utf16 := func(s string) string {
		data, err := little.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	long := strings.Repeat("The otter swims in the river.\n", 200)
	const left = "zero characters were left out"
	for _, tt := range []struct{ name, data, has, warning string }{
		{"short, with other controls", "otter\x00\x01\x02\x1b[31mriver\x7f", "otter", "1 " + left},
		{"one, at an odd place", "otter\x00river and lake", "otterriver and lake", "1 " + left},
		{"one, at an even place", "otters\x00river and lake", "ottersriver and lake", "1 " + left},
		{"in a long one", long + "\x00" + long, "swims", "1 " + left},
		{"in words of many bytes", "Žluťoučký kůň\x00 úpěl ďábelské ódy", "kůň úpěl", "1 " + left},
		{"two letters", utf16("Hi"), "Hi", "utf-16le"},
		{"an English word", utf16("otter river"), "otter river", "utf-16le"},
		{"English with a Greek letter", utf16("the angle α of it"), "angle α of", "utf-16le"},
		{"Russian", utf16("да или нет"), "да или нет", "utf-16le"},
	} {
		text, err := parseBytes(t, "a.txt", []byte(tt.data))
		if err != nil || !strings.Contains(text.Body, tt.has) || strings.Contains(text.Body, "\x00") {
			t.Errorf("%s: %q, %v", tt.name, text.Body[:min(len(text.Body), 80)], err)
		}
		if got := strings.Join(text.Warnings, "; "); !strings.Contains(got, tt.warning) {
			t.Errorf("%s: the warnings are %q, want %q", tt.name, got, tt.warning)
		}
	}
	for name, data := range map[string]string{
		"many zeros":       strings.Repeat("otter\x00\x00\x00", 40),
		"zeros and no UTF": strings.Repeat("abc\xff\xfe\x80def ", 20) + "\x00",
	} {
		if text, err := parseBytes(t, "a.txt", []byte(data)); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %q, %v", name, text.Body, err)
		}
	}
}
