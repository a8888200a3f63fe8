package wslbridge

import (
	"slices"
	"strings"
)

// ForwardedEnv names the variable in which the host finds, separated by colons, the provider keys
// that came from Windows without being asked for. They fill gaps in the .env inside WSL, while every
// other variable of the process goes before it.
const ForwardedEnv = "HERMES_ACP_FORWARDED"

// WinningEnv names the variable in which a person lists, separated by commas or blanks, the
// variables of Windows that go before the .env inside WSL.
const WinningEnv = "HERMES_ACP_ENV"

// providerKeys are forwarded when they are set on Windows.
func providerKeys() []string {
	return []string{
		"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "CEREBRAS_API_KEY",
		"DEEPSEEK_API_KEY", "FIREWORKS_API_KEY", "GEMINI_API_KEY", "GLM_API_KEY", "GOOGLE_API_KEY",
		"GROQ_API_KEY", "HF_TOKEN", "KIMI_API_KEY", "MINIMAX_API_KEY", "MISTRAL_API_KEY",
		"MOONSHOT_API_KEY", "NOUS_API_KEY", "TOGETHER_API_KEY", "XAI_API_KEY", "ZAI_API_KEY", "HERMES_MODEL",
	}
}

// crossingNames are forwarded as they are, crossingPaths translated to Linux paths.
func crossingNames() []string {
	return []string{
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy", ForwardedEnv, WinningEnv,
	}
}

func crossingPaths() []string { return []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"} }

// childEnviron is the environment of wsl.exe: env, made to speak UTF-8, with WSLENV extended by what
// the agent needs. An existing WSLENV keeps its entries, their order and flags (warp#6162). names are
// the variables asked for with --env.
func childEnviron(env, names []string) []string {
	winning := slices.Concat(names, strings.FieldsFunc(lookupEnv(env, WinningEnv), func(r rune) bool {
		return r == ',' || r == ' ' || r == ';' || r == ':'
	}))
	var fillers []string
	for _, name := range providerKeys() {
		if hasEnv(env, name) && !slices.Contains(winning, name) {
			fillers = append(fillers, name)
		}
	}
	env = setEnv(slices.Clone(env), "WSL_UTF8", "1")
	env = setEnv(env, ForwardedEnv, strings.Join(fillers, ":"))

	list := wslEnvList{entries: strings.FieldsFunc(lookupEnv(env, "WSLENV"), func(r rune) bool { return r == ':' })}
	for _, name := range slices.Concat(winning, fillers, crossingNames()) {
		if hasEnv(env, name) {
			list.add(name, "u")
		}
	}
	for _, name := range crossingPaths() {
		if hasEnv(env, name) {
			list.add(name, "up")
		}
	}
	return setEnv(env, "WSLENV", strings.Join(list.entries, ":"))
}

// wslEnvList is a WSLENV value, NAME[/flags] entries.
type wslEnvList struct{ entries []string }

func (l *wslEnvList) add(name, flags string) {
	// HERMES_HOME is a Windows path here and would name a folder on drvfs there.
	if name == "HERMES_HOME" || name == "" {
		return
	}
	for _, entry := range l.entries {
		if listed, _, _ := strings.Cut(entry, "/"); listed == name {
			return
		}
	}
	l.entries = append(l.entries, name+"/"+flags)
}

func hasEnv(env []string, name string) bool { return envIndex(env, name) >= 0 }

func lookupEnv(env []string, name string) string {
	if i := envIndex(env, name); i >= 0 {
		return env[i][len(name)+1:]
	}
	return ""
}

func setEnv(env []string, name, value string) []string {
	entry := name + "=" + value
	if i := envIndex(env, name); i >= 0 {
		env[i] = entry
		return env
	}
	return append(env, entry)
}

func envIndex(env []string, name string) int {
	return slices.IndexFunc(env, func(entry string) bool {
		return len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name
	})
}
