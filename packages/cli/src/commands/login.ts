import type { Command } from 'commander';
import { TOKEN_SCOPES, type TokenMade, type TokenState } from '@beckon/contract/dashboard';
import { createDashboard, type Dashboard } from '../api/dashboard.ts';
import { Failure, unauthorised, usage } from '../failure.ts';
import { printable, printableLines } from '../output/printable.ts';
import { when } from '../output/when.ts';
import { isProfileName, type Profile, profileFile } from '../profiles/file.ts';
import { readAll } from '../read-all.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';
import { chooseScopes, DEFAULT_SCOPES } from './login-scopes.ts';

type LoginOptions = { withToken?: true; withKey?: true; scopes?: string; label?: string; browser: boolean };
type Login = Running<LoginOptions>;

const SECRET_MAX_BYTES = 4_096;
const TOKEN_PATTERN = /^bkp_[0-9A-Za-z]{40}$/;
const KEY_PATTERN = /^sk_(live|test)_[A-Za-z0-9_-]{32,128}$/;

export function addLogin(program: Command, shell: Shell): void {
  program
    .command('login')
    .description('let this machine in: shows a code that you approve in the browser, and keeps the token')
    .option(
      '--scopes <scopes>',
      `what the token may do: any of ${TOKEN_SCOPES.join(',')} (default: ask, or ${DEFAULT_SCOPES.join(',')})`,
    )
    .option('--label <label>', 'what the token is called in your profile; the name of this machine')
    .option('--no-browser', 'do not offer to open the browser')
    .option('--with-token', 'read a token from stdin, instead of asking for one')
    .option('--with-key', 'keep an API key in the profile, too: read from stdin, or typed')
    .action(action<LoginOptions>(shell, login));
}

async function login(running: Login): Promise<void> {
  const { options, output } = running;
  if (options.withKey && options.withToken)
    throw usage('--with-key and --with-token both read stdin: one at a time');
  if (options.withKey) {
    await keep(running, { api_key: await readSecret(running, 'API key (sk_…)', KEY_PATTERN) });
    return output.one({ kept: 'api_key' }, () => 'The key is kept in your profile.');
  }
  const made = options.withToken ? await bringToken(running) : await askForToken(running);
  const { token, ...state } = made;
  await keep(running, {
    token,
    label: state.label,
    scopes: state.scopes,
    expires_at: state.expires_at,
    ...projectOf(state, options.project),
  });
  await output.one(state, describe);
}

/** The one that was named, where the token opens it; or the only one that there is. */
function projectOf({ projects }: TokenState, named: string | undefined): { project?: string } {
  const [one, ...others] = projects.filter(
    ({ id, name }) => named === undefined || name === named || String(id) === named,
  );
  if (one && others.length === 0) return { project: String(one.id) };
  if (named === undefined) return {};
  throw usage(`--project: the token opens no project ${named}, or several of that name`, '--project');
}

/** A secret that somebody made elsewhere: piped in, or typed where nobody sees it; never an argument. */
async function readSecret({ shell }: Login, question: string, pattern: RegExp): Promise<string> {
  const typed = shell.stdin.isTerminal
    ? await shell.ask.secret(question)
    : await readAll(shell.stdin, SECRET_MAX_BYTES);
  const secret = (typed ?? '').trim();
  if (!pattern.test(secret)) throw usage(`That is no ${question}`);
  return secret;
}

async function bringToken(running: Login): Promise<TokenMade> {
  const token = await readSecret(running, 'token (bkp_…)', TOKEN_PATTERN);
  const { data } = await (await dashboardWith(running, token)).call('GET /token', {});
  return { ...data, token };
}

async function askForToken(running: Login): Promise<TokenMade> {
  const { shell, options, output } = running;
  const dashboard = await dashboardWith(running, null);
  const label = options.label ?? `beckon on ${shell.host}`;
  const canAsk = shell.stdin.isTerminal && shell.stderr.isTerminal && !options.json;
  const scopes = await chooseScopes({ shell, given: options.scopes?.split(','), canAsk });
  const { data } = await dashboard.call('POST /device', { body: { label, scopes } });
  // Even with --quiet: without it nobody can approve.
  await shell.stderr.write(
    printableLines(`Open ${data.verification_url}\nand approve the code ${data.user_code}\n`),
  );
  if (options.browser && canAsk) await offerBrowser(running, data.verification_url);
  await output.progress('Waiting for your approval …');
  return approved(running, dashboard, data);
}

async function offerBrowser({ shell, output }: Login, url: string): Promise<void> {
  if (!/^https?:\/\//.test(url) || (await shell.ask.confirm('Open it in the browser here?')) !== true) return;
  if (!(await shell.openBrowser(url)))
    await output.note('There is no browser here: open the address elsewhere');
}

type Asked = { device_code: string; interval_s: number };

async function approved({ shell, signal }: Login, dashboard: Dashboard, asked: Asked): Promise<TokenMade> {
  const { device_code, interval_s } = asked;
  const intervalMs = Math.min(Math.max(interval_s, INTERVAL_S.least), INTERVAL_S.most) * 1_000;
  for (;;) {
    await shell.wait(intervalMs, signal);
    const answer = await askOnce(dashboard, device_code);
    if (answer === null) continue;
    if (answer.state === 'approved') return answer;
    if (answer.state === 'denied') throw unauthorised('denied', 'It was denied in the browser');
    if (answer.state === 'expired')
      throw unauthorised('expired', 'The code is no longer valid. Run beckon login again');
  }
}

const INTERVAL_S = { least: 1, most: 60 };

/** Null: the server was away for a moment, or was asked too often, and neither ends what a person is about to approve. */
async function askOnce(dashboard: Dashboard, device_code: string) {
  try {
    return (await dashboard.call('POST /device/token', { body: { device_code } })).data;
  } catch (error) {
    if (error instanceof Failure && PASSING.has(error.code)) return null;
    throw error;
  }
}

const PASSING = new Set(['unreachable', 'timeout', 'rate_limited', 'server_error']);

async function dashboardWith({ connection, shell, signal }: Login, token: string | null): Promise<Dashboard> {
  const { url } = await connection();
  return createDashboard({ url, version: shell.version, token, signal });
}

/** Of another installation nothing is kept under the same name. */
async function keep({ connection, shell, options, output }: Login, what: Partial<Profile>): Promise<void> {
  const { url } = await connection();
  const file = profileFile(shell);
  const { profiles } = await file.read();
  const name = options.profile ?? profiles.current;
  if (!isProfileName(name)) throw usage(`--profile: ${name} is no name of a profile`);
  const before = profiles.profiles[name];
  const kept = before?.url === url ? before : {};
  await file.write({
    current: name,
    profiles: { ...profiles.profiles, [name]: { ...kept, ...what, url } },
  });
  await output.note(`Kept in ${file.path}, profile ${name}`);
}

export function describe({ person, scopes, expires_at, projects, label }: TokenState): string {
  const names = projects.map(({ id, name }) => `  ${id}  ${printable(name)}`);
  return [
    `You are ${printable(person.name)} (${printable(person.email)}), by the token “${printable(label)}”.`,
    `It may ${scopes.join(', ')} until ${when(expires_at)}.`,
    names.length === 0 ? 'It opens no project.' : 'It opens:',
    ...names,
  ].join('\n');
}
