package offline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnderstand(t *testing.T) {
	t.Parallel()
	readOf := func(path string) step { return step{kind: kindRead, path: path} }
	run := func(command string) step { return step{kind: kindRun, command: command} }
	create := func(path, text string) step { return step{kind: kindCreate, path: path, new: text} }
	replace := func(path, old, new string) step { return step{kind: kindReplace, path: path, old: old, new: new} }
	all := func(s step) step { s.all = true; return s }
	tests := map[string][]step{
		// read
		"read go.mod":                                    {readOf("go.mod")},
		"Read the file ledger.csv.":                      {readOf("ledger.csv")},
		"Please show me src/lib/parse.c":                 {readOf("src/lib/parse.c")},
		"Can you open `my notes.txt`?":                   {readOf("my notes.txt")},
		"What's in \"quarterly report.md\"?":             {readOf("quarterly report.md")},
		"what is in ./a/b.toml":                          {readOf("./a/b.toml")},
		"Show me the contents of config.ini, please!":    {readOf("config.ini")},
		"What does main.rs do?":                          {readOf("main.rs")},
		"Tell me about README.md's contents":             {readOf("README.md")},
		"read Makefile":                                  {readOf("Makefile")},
		"Print the file LICENSE":                         {readOf("LICENSE")},
		"look at .gitignore":                             {readOf(".gitignore")},
		"cat /etc/hostname":                              {readOf("/etc/hostname")},
		"read C:\\proj\\a.go":                            {readOf("C:\\proj\\a.go")},
		"Lies bitte, I mean read 'Grüße aus Köln.txt'":   {readOf("Grüße aus Köln.txt")},
		"read “the plan.txt”":                            {readOf("the plan.txt")},
		"Summarize the file @docs/design.md":             {readOf("docs/design.md")},
		"In notes.txt, what is the third line? Show it.": {readOf("notes.txt")},

		"I'd like to see the content of \"release notes.txt\".": {readOf("release notes.txt")},

		// replace
		`replace "foo" with "bar" in x.txt`:                         {replace("x.txt", "foo", "bar")},
		"Replace foo with bar in x.txt.":                            {replace("x.txt", "foo", "bar")},
		"replace `a b` by `c d` in 'my file.txt'":                   {replace("my file.txt", "a b", "c d")},
		"In settings.py, change DEBUG = True to DEBUG = False":      {replace("settings.py", "DEBUG = True", "DEBUG = False")},
		"change the word colour to color in the file essay.md":      {replace("essay.md", "colour", "color")},
		"Please change 8080 to 9090 inside conf/server.yaml, ok?":   {replace("conf/server.yaml", "8080", "9090")},
		"Please change 8080 to 9090 inside conf/server.yaml":        {replace("conf/server.yaml", "8080", "9090")},
		"replace every occurrence of x1 with y2 in calc.js":         {all(replace("calc.js", "x1", "y2"))},
		"Replace all 'cat' with 'dog' in pets.txt":                  {all(replace("pets.txt", "cat", "dog"))},
		"replace old with new in a.txt everywhere":                  {all(replace("a.txt", "old", "new"))},
		"substitute \"Bob\" for \"Alice\" in cast.txt":              {replace("cast.txt", "Alice", "Bob")},
		"swap red with blue in theme.css":                           {replace("theme.css", "red", "blue")},
		"rename getUser to fetchUser in api.ts":                     {replace("api.ts", "getUser", "fetchUser")},
		"Edit notes.md: change Monday to Tuesday":                   {replace("notes.md", "Monday", "Tuesday")},
		"update version.txt from 1.0.3 to 1.0.4":                    {replace("version.txt", "1.0.3", "1.0.4")},
		"open plan.txt and replace \"draft\" with \"final\"":        {readOf("plan.txt"), replace("plan.txt", "draft", "final")},
		"read plan.txt, then change draft to final in it":           {readOf("plan.txt"), replace("plan.txt", "draft", "final")},
		"replace 1 with 2 in n.txt and show it":                     {replace("n.txt", "1", "2"), readOf("n.txt")},
		"replace 1 with 2 in n.txt and show me the result":          {replace("n.txt", "1", "2")},
		"replace in poem.txt \"rose\" with \"tulip\"":               {replace("poem.txt", "rose", "tulip")},
		"replace \"then\" with \"than\" in essay.txt":               {replace("essay.txt", "then", "than")},
		"replace then with than in essay.txt":                       {replace("essay.txt", "then", "than")},
		"replace go to with come to in song.txt":                    {replace("song.txt", "go to", "come to")},
		"remove \"TODO\" from list.txt":                             {replace("list.txt", "TODO", "")},
		"replace \"don't\" with \"do not\" in x.txt":                {replace("x.txt", "don't", "do not")},
		"replace 'its' -> 'it is' in x.txt":                         {replace("x.txt", "its", "it is")},
		`replace "a\nb" with "a \"b\"" in x.txt`:                    {replace("x.txt", "a\nb", `a "b"`)},
		`replace "- [ ] buy milk" with "- [x] buy milk" in todo.md`: {replace("todo.md", "- [ ] buy milk", "- [x] buy milk")},

		"Edit c.json: replace \"debug\": false with \"debug\": true": {replace("c.json", `"debug": false`, `"debug": true`)},
		"Please modify main.py so that `x = 1` becomes `x = 2`":      {replace("main.py", "x = 1", "x = 2")},
		"Can you rename the variable cnt to count in loop.c?":        {replace("loop.c", "cnt", "count")},
		"In README.md, fix the typo catt -> cat":                     {replace("README.md", "catt", "cat")},
		"swap \"left\" for \"right\" in layout.css":                  {replace("layout.css", "left", "right")},
		"replace foo with nothing in x.txt":                          {replace("x.txt", "foo", "")},
		"Add a file hello.py with print('hi')":                       {create("hello.py", "print('hi')")},

		// create
		`create hello.txt with the content "Hi there"`:               {create("hello.txt", "Hi there")},
		"Create a file called notes.txt containing buy milk":         {create("notes.txt", "buy milk")},
		"make a new file named 'shopping list.txt' that says `eggs`": {create("shopping list.txt", "eggs")},
		"create data.csv with content: a,b,c":                        {create("data.csv", "a,b,c")},
		"write \"print(1)\" to hello.py":                             {create("hello.py", "print(1)")},
		"Save the text 'ok' as out/status.txt":                       {create("out/status.txt", "ok")},
		"write hello world into greeting.txt":                        {create("greeting.txt", "hello world")},
		"create an empty file .keep":                                 {create(".keep", "")},
		"create the file Dockerfile with the content \"FROM x\"":     {create("Dockerfile", "FROM x")},
		"create fox.txt containing the quick brown fox":              {create("fox.txt", "the quick brown fox")},
		"create two.txt with two lines \"one\" and \"two\"":          {create("two.txt", "one\ntwo")},
		"create a.sh:\n```sh\necho hi\n```\n":                        {create("a.sh", "echo hi\n")},
		`create n.txt with content:"x"`:                              {create("n.txt", "x")},
		`make a file a.txt with "line 1\nline 2\n"`:                  {create("a.txt", "line 1\nline 2\n")},

		// run
		"run `go test ./...`":                                  {run("go test ./...")},
		"run ls -la":                                           {run("ls -la")},
		"Run the command uname -a.":                            {run("uname -a")},
		"execute \"make build\"":                               {run("make build")},
		"please run git log --oneline ..main":                  {run("git log --oneline ..main")},
		"run ls .":                                             {run("ls .")},
		"Run `wc -l a.txt` to count the lines":                 {run("wc -l a.txt")},
		`run echo "hello world"`:                               {run(`echo "hello world"`)},
		`run "my tool" --fast`:                                 {run(`"my tool" --fast`)},
		"Could you run the following command:\n```\ndate\n```": {run("date")},
		"What is the output of `uname -r`?":                    {run("uname -r")},
		"run the tests":                                        nil,

		// several
		"read a.txt and b.txt": {readOf("a.txt"), readOf("b.txt")},
		"Read c.yaml, replace port: 80 with port: 8080 in it, then run `cat c.yaml`": {readOf("c.yaml"), replace("c.yaml", "port: 80", "port: 8080"), run("cat c.yaml")},
		"edit hello.txt and replace 'world' with 'there'":                            {replace("hello.txt", "world", "there")},
		"create the file foo.txt and write \"bar\" in it":                            {create("foo.txt", "bar")},
		"First, read a.txt. Then change foo to bar in it. Finally, run `git diff`.":  {readOf("a.txt"), replace("a.txt", "foo", "bar"), run("git diff")},
		"run \"ls\", read b.txt":                                                     {run("ls"), readOf("b.txt")},
		"read a.txt then run `make`":                                                 {readOf("a.txt"), run("make")},
		"Read a.txt, and then replace x with y in a.txt. Run cat a.txt":              {readOf("a.txt"), replace("a.txt", "x", "y"), run("cat a.txt")},
		"create a.txt with content \"1\" and run `cat a.txt` and tell me the result": {create("a.txt", "1"), run("cat a.txt")},
		"1. read a.txt\n2. run ls -l\n3. create b.txt with \"x\"":                    {readOf("a.txt"), run("ls -l"), create("b.txt", "x")},
		"First read x.go; finally run go vet":                                        {readOf("x.go"), run("go vet")},
		"Run `echo 1; echo then read` then read z.md":                                {run("echo 1; echo then read"), readOf("z.md")},

		// nothing to do
		"add \"x\" to notes.txt":             nil, // it would replace the whole file
		"write hello.txt":                    nil,
		"":                                   nil,
		"hello":                              nil,
		"How are you today?":                 nil,
		"What is the meaning of life?":       nil,
		"Write a poem about the sea":         nil,
		"Fix the bug in the login, it fails": nil,
		"replace the engine":                 nil,
		"\"\" '' `` ```":                     nil,
	}
	for request, want := range tests {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			got, unclear := understand(request)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if len(want) > 0 && len(unclear) > 0 {
				t.Errorf("unclear: %q", unclear)
			}
		})
	}
}
