import { readFile } from 'node:fs/promises';
import { API_KEY_PATTERN } from '@beckon/contract';
import { EXIT, Failure, unauthorised, usage } from '../failure.ts';
import type { Output } from '../output/output.ts';
import type { Shell } from '../shell.ts';
import { readAll } from '../read-all.ts';
import { isProfileName, type Profile, profileFile } from './file.ts';

export type ConnectionOptions = { url?: string; project?: string; profile?: string; keyFile?: string };

/** Where to ask, and as whom. Secrets are looked for when they are needed, and only sent where they belong. */
export type Connection = {
  url: string;
  profileName: string;
  profile: Profile | null;
  /** As it was named: an id or a name; null: nobody said. */
  project: string | null;
  token: () => string;
  apiKey: () => Promise<string>;
};

const DEFAULT_URL = 'http://localhost:8080';
const TOKEN_PATTERN = /^bkp_[0-9A-Za-z]{40}$/;

type Deps = { shell: Shell; output: Output };

export async function openConnection(
  { shell, output }: Deps,
  options: ConnectionOptions,
): Promise<Connection> {
  const { env } = shell;
  const { name, profile } = await findProfile({ shell, output }, options.profile);
  const url = readUrl(options.url ?? given(env, 'BECKON_URL') ?? profile?.url ?? DEFAULT_URL);
  // What was given out by one installation is never shown to another one.
  const own = profile !== null && readUrl(profile.url) === url ? profile : null;
  let key: Promise<string> | null = null;
  return {
    url,
    profileName: name,
    profile: own,
    project: options.project ?? given(env, 'BECKON_PROJECT') ?? own?.project ?? null,
    token() {
      const token = given(env, 'BECKON_TOKEN') ?? own?.token;
      if (token === undefined) throw unauthorised('session_required', noToken(url, profile));
      if (!TOKEN_PATTERN.test(token)) throw unauthorised('session_required', NO_TOKEN);
      return token;
    },
    // Once: stdin can be read a single time, and nobody types a key twice.
    apiKey: () => (key ??= requireKey(shell, options, own)),
  };
}

async function requireKey(...from: Parameters<typeof findKey>): Promise<string> {
  const key = await findKey(...from);
  if (!API_KEY_PATTERN.test(key)) throw unauthorised('auth_required', NO_KEY);
  return key;
}

const NO_TOKEN = 'The token is no token: it begins with bkp_ and has 44 characters';
const NO_KEY = 'The API key is no key: it begins with sk_live_ or sk_test_';

type Found = { name: string; profile: Profile | null };

async function findProfile({ shell, output }: Deps, named: string | undefined): Promise<Found> {
  const file = profileFile(shell);
  const { profiles, repaired } = await file.read();
  if (repaired) await output.note(`${file.path} could be read by others; only you can read it now`);
  const name = named ?? profiles.current;
  if (!isProfileName(name)) throw usage(`--profile: ${name} is no name of a profile`, '--profile');
  return { name, profile: profiles.profiles[name] ?? null };
}

/** As far as it says where to ask: the origin, and a path where the server lies below one. */
function readUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usage(`--url: ${text} is no address such as https://beckon.example.com`, 'url');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw usage('--url: the address begins with https:// (or http:// on this machine)', 'url');
  if (url.username !== '' || url.password !== '')
    throw usage('--url: no name and password belong into the address', 'url');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw usage('--url: over http:// others on the way could read the key; use https://', 'url');
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host)
  );
}

/** Set to nothing is not set. */
function given(env: Shell['env'], name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}

function noToken(url: string, profile: Profile | null): string {
  const other = profile?.token !== undefined ? ` (the profile's token is for ${profile.url})` : '';
  return `You are not logged in to ${url}${other}: run beckon login, or set BECKON_TOKEN`;
}

const KEY_MAX_BYTES = 4_096;

async function findKey(shell: Shell, { keyFile }: ConnectionOptions, own: Profile | null): Promise<string> {
  if (keyFile !== undefined) return (await readKeyFile(shell, keyFile)).trim();
  const found = given(shell.env, 'BECKON_API_KEY') ?? own?.api_key;
  if (found !== undefined) return found;
  if (shell.stdin.isTerminal && shell.stderr.isTerminal) {
    const typed = await shell.ask.secret('API key (sk_…)');
    if (typed !== null && typed.trim() !== '') return typed.trim();
  }
  throw unauthorised(
    'auth_required',
    'No API key: set BECKON_API_KEY, or give --key-file FILE (- for stdin)',
  );
}

async function readKeyFile(shell: Shell, path: string): Promise<string> {
  if (/^(?:sk|bkp)_/.test(path))
    throw usage(
      '--key-file takes a file: a key as an argument is read by everybody on this machine',
      '--key-file',
    );
  if (path === '-') return readAll(shell.stdin, KEY_MAX_BYTES);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Failure('file_unreadable', `--key-file: ${path} cannot be read`, {
      exit: EXIT.usage,
      cause: error,
    });
  }
}
