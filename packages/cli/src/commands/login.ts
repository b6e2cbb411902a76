import { API_KEY_PATTERN } from '@beckon/contract';
import { TOKEN_SCOPES, type IssuedToken, type TokenScope, type TokenState } from '@beckon/contract/dashboard';
import type { Dashboard } from '../api/dashboard.ts';
import { requireAnswer, Failure, unauthorized, usage } from '../failure.ts';
import type { Context } from '../framework/context.ts';
import { custom } from '../framework/declare.ts';
import { choices, flag, text } from '../framework/options.ts';
import { printableLines } from '../output/printable.ts';
import { saveProfile } from '../profiles/change.ts';
import { TOKEN_PATTERN } from '../profiles/connection.ts';
import { readAll } from '../read-all.ts';
import { canPrompt } from '../shell.ts';
import { promptScopes, DEFAULT_SCOPES } from './login-scopes.ts';
import { tokenView } from './whoami.ts';

const SECRET_MAX_BYTES = 4_096;

const NO_LOGIN =
  'Commands on this machine use the local socket and need no login. To log in to another server, pass --url.';

type LoginOptions = { scopes?: TokenScope[]; label?: string; browser: boolean };

export const login = custom('login', {
  help: 'Log in: approve a code in the browser, and save the token in a profile',
  routes: ['POST /device', 'POST /device/token', 'GET /token'],
  options: {
    scopes: choices(
      '--scopes <scopes>',
      `Scopes of the token (default: ask, or ${DEFAULT_SCOPES.join(',')})`,
      TOKEN_SCOPES,
    ),
    label: text('--label <label>', 'Name of the token in your profile (default: the name of this machine)'),
    browser: {
      flags: '--no-browser',
      help: 'Do not offer to open the browser',
      read: (value: boolean) => value,
    },
    withToken: flag('--with-token', 'Read an existing token from stdin'),
    withKey: flag('--with-key', 'Save an API key in the profile: read from stdin, or typed'),
  },
  async run(context, { withToken, withKey, ...options }) {
    const { output } = context;
    if (withKey && withToken) throw usage('--with-key and --with-token both read stdin. Use one at a time.');
    const connection = await context.connection();
    if (withKey) {
      const api_key = await readSecret(context, 'API key (sk_…)', API_KEY_PATTERN);
      await saveProfile(context, { connection, values: { api_key }, isLogin: true });
      return output.value({ saved: 'api_key' }, () => 'Saved the API key in your profile.');
    }
    if (connection.kind === 'local') throw usage(NO_LOGIN);
    const made = withToken ? await readToken(context) : await requestToken(context, options);
    const { token, ...state } = made;
    const { label, scopes, expires_at } = state;
    const project = defaultProject(state, context.options.project);
    const values = { token, label, scopes, expires_at, ...project };
    await saveProfile(context, { connection, values, isLogin: true });
    await output.value(state, tokenView);
  },
});

/** The named project, or the only one that the token can access. */
function defaultProject({ projects }: TokenState, named: string | undefined): { project?: string } {
  const [only, ...others] = projects.filter(
    ({ id, name }) => named === undefined || name === named || String(id) === named,
  );
  if (only && others.length === 0) return { project: String(only.id) };
  if (named === undefined) return {};
  throw usage(`--project: the token opens no project ${named}, or several with that name`, '--project');
}

/** Reads a secret from stdin, or typed without echo. It is never an argument. */
async function readSecret({ shell }: Context, question: string, pattern: RegExp): Promise<string> {
  const typed = shell.stdin.isTerminal
    ? requireAnswer(await shell.prompts.secret(question))
    : await readAll(shell.stdin, SECRET_MAX_BYTES);
  const secret = typed.trim();
  if (!pattern.test(secret)) throw usage(`Invalid ${question}`);
  return secret;
}

async function readToken(context: Context): Promise<IssuedToken> {
  const token = await readSecret(context, 'token (bkp_…)', TOKEN_PATTERN);
  const { data } = await (await context.dashboardWith(token)).call('GET /token', {});
  return { ...data, token };
}

async function requestToken(context: Context, options: LoginOptions): Promise<IssuedToken> {
  const { shell, output } = context;
  const dashboard = await context.dashboardWith(null);
  const label = options.label ?? `beckon on ${shell.host}`;
  const isInteractive = canPrompt(shell, context.options.json);
  const scopes = options.scopes ?? (isInteractive ? await promptScopes(shell) : DEFAULT_SCOPES);
  const { data } = await dashboard.call('POST /device', { body: { label, scopes } });
  // Also with --quiet, because approval needs the code.
  const { verification_url: url, user_code: code } = data;
  await shell.stderr.write(
    printableLines(`Open ${url}\nand approve the code ${code}\n(scopes: ${scopes.join(', ')})\n`),
  );
  if (options.browser && isInteractive) await offerBrowser(context, url);
  await output.progress('Waiting for your approval …');
  return waitForApproval(context, dashboard, data);
}

async function offerBrowser({ shell, output }: Context, url: string): Promise<void> {
  if (!/^https?:\/\//.test(url) || (await shell.prompts.confirm('Open the page in the browser?')) !== true)
    return;
  if (!(await shell.openBrowser(url))) await output.note('No browser found. Open the address elsewhere.');
}

type Device = { device_code: string; interval_s: number };

async function waitForApproval(
  { shell, signal }: Context,
  dashboard: Dashboard,
  device: Device,
): Promise<IssuedToken> {
  const { device_code, interval_s } = device;
  const intervalMs = Math.min(Math.max(interval_s, INTERVAL_S.min), INTERVAL_S.max) * 1_000;
  for (;;) {
    await shell.wait(intervalMs, signal);
    const result = await pollOnce(dashboard, device_code);
    if (result === null) continue;
    if (result.state === 'approved') return result;
    if (result.state === 'denied') throw unauthorized('denied', 'The request was denied in the browser');
    if (result.state === 'expired')
      throw unauthorized('expired', 'The code has expired. Run beckon login again.');
  }
}

const INTERVAL_S = { min: 1, max: 60 };

/** Null while the server is unreachable or limits the rate: neither ends a login that the user is about to approve. */
async function pollOnce(dashboard: Dashboard, device_code: string) {
  try {
    return (await dashboard.call('POST /device/token', { body: { device_code } })).data;
  } catch (error) {
    if (error instanceof Failure && TEMPORARY.has(error.code)) return null;
    throw error;
  }
}

const TEMPORARY = new Set(['unreachable', 'timeout', 'rate_limited', 'server_error']);
