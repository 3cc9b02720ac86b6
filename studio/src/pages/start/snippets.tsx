// How each client is pointed at this server.
import { useState } from 'preact/hooks';
import { t } from '../../i18n/index.ts';
import { Segments, Snippet } from '../../parts/basics.tsx';
import { isOnlyBuiltIn, useModels } from '../../parts/models.tsx';
import { me } from '../../state/session.ts';

const token = () => (me.value?.needs_token ? t('your token') : 'unused');

const snippets: Record<string, (at: string) => string> = {
  curl: (at) => `curl ${at}/v1/chat/completions \\
  -H 'Content-Type: application/json'${me.value?.needs_token ? ` \\\n  -H 'Authorization: Bearer ${token()}'` : ''} \\
  -d '{"model": "rememberd/demo", "messages": [{"role": "user", "content": "${t('example question')}"}]}'`,
  JavaScript: (at) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${at}/v1', apiKey: '${token()}' });`,
  Python: (at) => `from openai import OpenAI

client = OpenAI(base_url="${at}/v1", api_key="${token()}")`,
  'Claude Code': (at) => `ANTHROPIC_BASE_URL=${at} claude`,
  Codex: (at) => `# ~/.codex/config.toml
model_provider = "rememberd"

[model_providers.rememberd]
name = "rememberd"
base_url = "${at}/v1"
wire_api = "responses"`,
  'Open WebUI': (at) => `OPENAI_API_BASE_URL=${at}/v1
ENABLE_FORWARD_USER_INFO_HEADERS=true`,
  MCP: (at) => `{ "mcpServers": { "rememberd": { "type": "http", "url": "${at}/mcp" } } }`,
};

export function Snippets() {
  const [name, setName] = useState('curl');
  return (
    <section class="card" aria-label={t('connect')}>
      <header><h2>{t('connect')}</h2></header>
      <div class="stack pad">
        <div class="row"><Segments value={name} onChange={setName} label={t('client')} options={Object.keys(snippets).map((n) => [n, n])} /></div>
        <Snippet text={snippets[name]!(location.origin)} label={name} />
        <p class="small quiet">{t('snippet hint')}</p>
        {isOnlyBuiltIn(useModels()) && <p class="notice"><span>{t('only built in')} <code>rememberd serve --upstream https://api.openai.com/v1</code></span></p>}
      </div>
    </section>
  );
}
