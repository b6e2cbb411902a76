import { API_KEY_PATTERN } from '@beckon/contract';
import type { Target } from '../api/http.ts';
import { requireAnswer, unauthorized, usage } from '../failure.ts';
import { readInput } from '../framework/options.ts';
import type { Output } from '../output/output.ts';
import { canPrompt, type Shell } from '../shell.ts';
import { isProfileName, LOCAL, type Profile, profileFile, type Profiles } from './file.ts';
import { findLocalSocket } from './socket.ts';

export type ConnectionOptions = {
  url?: string;
  project?: string;
  profile?: string;
  keyFile?: string;
  json?: boolean;
};

/** The server, and the credentials for it. Secrets are looked up when needed, and sent only to the server they belong to. */
export type Connection = {
  /** `local`: the socket of a server on this machine, which needs no login. */
  kind: 'local' | 'remote';
  /** The address of the server: a URL, or `unix:` and the socket. A profile belongs to one address. */
  url: string;
  profileName: string;
  profile: Profile | null;
  /** The id or name of the chosen project; null when none is chosen. */
  project: string | null;
  dashboard: () => { target: Target; token: string | null };
  apiKey: () => Promise<string>;
};

const DEFAULT_URL = 'http://localhost:8080';
export const TOKEN_PATTERN = /^bkp_[0-9A-Za-z]{40}$/;

type Deps = { shell: Shell; output: Output };

/**
 * Chooses the server: an explicit address, token or profile; else the local socket; else the current profile. A socket
 * whose server is down is an error, not a reason to use another server.
 */
export async function openConnection(deps: Deps, options: ConnectionOptions): Promise<Connection> {
  const { shell } = deps;
  const { env } = shell;
  const profiles = await readProfiles(deps);
  const isExplicit = [
    options.url,
    options.profile,
    value(env, 'BECKON_URL'),
    value(env, 'BECKON_TOKEN'),
  ].some((setting) => setting !== undefined);
  const socketPath = isExplicit ? null : await findLocalSocket(shell);
  if (socketPath !== null) return localConnection({ shell, profiles, socketPath }, options);
  const name = options.profile ?? profiles.current;
  if (!isProfileName(name)) throw usage(`--profile: ${name} is not a valid profile name`, '--profile');
  const saved = profiles.profiles[name] ?? null;
  const url = readUrl(options.url ?? value(env, 'BECKON_URL') ?? saved?.url ?? DEFAULT_URL);
  // A secret of one server is never sent to another.
  const profile = saved !== null && readUrl(saved.url) === url ? saved : null;
  return {
    kind: 'remote',
    url,
    profileName: name,
    profile,
    ...shared(shell, options, profile),
    dashboard() {
      const token = value(env, 'BECKON_TOKEN') ?? profile?.token;
      if (token === undefined)
        throw unauthorized('session_required', isExplicit || saved ? notLoggedIn(url, saved) : NOT_CONNECTED);
      if (TOKEN_PATTERN.test(token)) return { target: { url, socketPath: null }, token };
      throw unauthorized('session_required', 'Invalid token. A token is bkp_ and 40 letters and digits.');
    },
  };
}

type Local = { shell: Shell; profiles: Profiles; socketPath: string };

function localConnection({ shell, profiles, socketPath }: Local, options: ConnectionOptions): Connection {
  const saved = profiles.profiles[LOCAL] ?? null;
  const url = `unix:${socketPath}`;
  const profile = saved?.url === url ? saved : null;
  return {
    kind: 'local',
    url,
    profileName: LOCAL,
    profile,
    ...shared(shell, options, profile),
    dashboard: () => ({ target: { url: 'http://localhost', socketPath }, token: null }),
  };
}

function shared(shell: Shell, options: ConnectionOptions, profile: Profile | null) {
  let key: Promise<string> | null = null;
  return {
    project: options.project ?? value(shell.env, 'BECKON_PROJECT') ?? profile?.project ?? null,
    // Once: stdin can only be read once.
    apiKey: () => (key ??= findKey(shell, options, profile)),
  };
}

async function readProfiles({ shell, output }: Deps): Promise<Profiles> {
  const file = profileFile(shell);
  const { profiles, repaired } = await file.read();
  if (repaired)
    await output.note(`${file.path} was readable by others. Its permissions are now limited to you.`);
  return profiles;
}

/** The origin, and the path when the server is below one. */
function readUrl(text: string): string {
  if (!URL.canParse(text))
    throw usage(`--url: ${text} is not an address such as https://beckon.example.com`, 'url');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw usage('--url must begin with https:// (or http:// for this machine)', 'url');
  if (url.username !== '' || url.password !== '')
    throw usage('--url must not contain a user name or password', 'url');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw usage('--url: http:// would expose the key to the network; use https://', 'url');
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host)
  );
}

/** An empty variable counts as not set. */
function value(env: Shell['env'], name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

const NOT_CONNECTED =
  'Not connected to a server. Run beckon login --url https://beckon.example.com, or run this command on the ' +
  "server's machine with its DATA_DIR.";

function notLoggedIn(url: string, saved: Profile | null): string {
  const other = saved?.token !== undefined ? ` (the token of this profile is for ${saved.url})` : '';
  return `Not logged in to ${url}${other}. Run beckon login, or set BECKON_TOKEN.`;
}

const KEY_MAX_BYTES = 4_096;

async function findKey(shell: Shell, options: ConnectionOptions, profile: Profile | null): Promise<string> {
  const key = await readKey(shell, options, profile);
  if (API_KEY_PATTERN.test(key)) return key;
  throw unauthorized('auth_required', 'Invalid API key. A key begins with sk_live_ or sk_test_.');
}

async function readKey(
  shell: Shell,
  { keyFile, json }: ConnectionOptions,
  profile: Profile | null,
): Promise<string> {
  if (keyFile !== undefined) return readKeyFile(shell, keyFile);
  const found = value(shell.env, 'BECKON_API_KEY') ?? profile?.api_key;
  if (found !== undefined) return found;
  const typed = canPrompt(shell, json)
    ? requireAnswer(await shell.prompts.secret('API key (sk_…)')).trim()
    : '';
  if (typed !== '') return typed;
  throw unauthorized(
    'auth_required',
    'No API key. Set BECKON_API_KEY, or pass --key-file <file> (- for stdin).',
  );
}

async function readKeyFile(shell: Shell, path: string): Promise<string> {
  if (/^(?:sk|bkp)_/.test(path))
    throw usage(
      '--key-file takes a file. Other users of this machine can read a key that is an argument.',
      '--key-file',
    );
  const text = (await readInput(path, { shell })).trim();
  if (text.length <= KEY_MAX_BYTES) return text;
  throw usage(`--key-file: ${path} is larger than a key`, '--key-file');
}
