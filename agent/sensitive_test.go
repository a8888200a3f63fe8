package agent

import "testing"

func TestSensitive(t *testing.T) {
	const home = "/home/anna"
	for _, tc := range []struct {
		path string
		want bool
	}{
		{"/home/anna/ws/main.go", false},
		{"/home/anna/ws/.gitignore", false},
		{"/home/anna/ws/.github/dependabot.yml", false},
		{"/home/anna/ws/.config/app.toml", false},
		{"/home/anna/ws/profile.go", false},
		{"/home/anna/ws/keys.go", false},
		{"/home/anna/ws/id_rsa.pub", false},
		{"/home/anna/ws/.env.example", false},
		{"/home/anna/ws/.env.sample", false},
		{"/home/anna/ws/.env.template", false},
		{"/home/anna/ws/a~b.txt", false},
		{"/home/anna/ws/~1", false},
		{"/home/anna/.config/nvim/init.lua", false},

		{"/home/anna/ws/.git", true},
		{"/home/anna/ws/.git/hooks/pre-commit", true},
		{"/home/anna/ws/.GIT/config", true},
		{"/home/anna/ws/.github/workflows/ci.yml", true},
		{"/home/anna/ws/.GitHub/Workflows/ci.yml", true},
		{"/home/anna/ws/.vscode/tasks.json", true},
		{"/home/anna/ws/.zed/tasks.json", true},
		{"/home/anna/ws/.idea/x", true},
		{"/home/anna/ws/.jetbrains/x", true},
		{"/home/anna/ws/.cursor/mcp.json", true},
		{"/home/anna/ws/.claude/settings.json", true},
		{"/home/anna/ws/.husky/pre-commit", true},
		{"/home/anna/.ssh/config", true},
		{"/home/anna/.gnupg/x", true},
		{"/home/anna/.aws/config", true},
		{"/home/anna/.kube/config", true},
		{"/home/anna/.hermes/.env", true},
		{"/home/anna/.config/autostart/x.desktop", true},
		{"/home/anna/.config/systemd/user/x.service", true},
		{"/mnt/c/Users/anna/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/x.bat", true},
		{"/home/anna/ws/.env", true},
		{"/home/anna/ws/.ENV", true},
		{"/home/anna/ws/.env.production", true},
		{"/home/anna/ws/id_rsa", true},
		{"/home/anna/ws/id_ed25519_work", true},
		{"/home/anna/ws/server.pem", true},
		{"/home/anna/ws/server.KEY", true},
		{"/home/anna/ws/.netrc", true},
		{"/home/anna/ws/.npmrc", true},
		{"/home/anna/ws/.pypirc", true},
		{"/home/anna/ws/.gitconfig", true},
		{"/home/anna/ws/.mcp.json", true},
		{"/home/anna/ws/.envrc", true},
		{"/home/anna/ws/authorized_keys", true},
		{"/home/anna/ws/credentials", true},
		{"/mnt/c/Users/anna/Documents/PowerShell/Microsoft.PowerShell_profile.ps1", true},
		{"/home/anna/ws/.bashrc", true},
		{"/home/anna/ws/.zshenv", true},
		{"/home/anna/.anything", true},
		{"/home/berta/.anything", true},
		{"/root/.anything", true},
		{"/Users/anna/.anything", true},
		{"/mnt/c/Users/anna/.anything", true},
		{"/mnt/c/ws/GIT~1/config", true},
		{"/mnt/c/ws/ENV~1", true},
		{"/mnt/c/ws/.env.", true},
		{"/mnt/c/ws/.git /config", true},
		{"/mnt/c/ws/.git./config", true},
	} {
		if got := Sensitive(tc.path, home); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.path, got, tc.want)
		}
	}
}

func BenchmarkSensitive(b *testing.B) {
	for b.Loop() {
		Sensitive("/home/anna/work/project/internal/server/handler_test.go", "/home/anna")
	}
}
