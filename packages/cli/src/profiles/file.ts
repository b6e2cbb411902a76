import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../failure.ts';
import { readIfPresent } from '../files.ts';
import type { Shell } from '../shell.ts';

/** The saved values of one server. Secrets are kept here and never in arguments, which all users of a machine can read. */
export type Profile = {
  url: string;
  token?: string;
  /** Label and expiry of the token, as the dashboard lists it. */
  label?: string;
  scopes?: string[];
  expires_at?: string;
  api_key?: string;
  /** Default project, set by `beckon use`. */
  project?: string;
};

export type Profiles = { current: string; profiles: Record<string, Profile> };

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
/** A larger file was not written by this program. */
const CHARS_MAX = 1024 * 1024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** The profile of the local socket: it holds the default project and an API key, but no token, because the socket needs none. */
export const LOCAL = 'local';

export function profileFile({ env, home, platform }: Pick<Shell, 'env' | 'home' | 'platform'>) {
  const configHome = env['XDG_CONFIG_HOME'] ?? '';
  const path = join(
    configHome.startsWith('/') ? configHome : join(home, '.config'),
    'beckon',
    'profiles.json',
  );
  const hasModes = platform !== 'win32';

  return {
    path,
    /** `repaired`: other users could read the file until now. */
    async read(): Promise<{ profiles: Profiles; repaired: boolean }> {
      const text = await readIfPresent(path);
      if (text === null) return { profiles: NONE, repaired: false };
      if (text.length > CHARS_MAX) throw broken(path, 'the file is larger than 1 MiB');
      const profiles = parse(path, text);
      const isOpen = hasModes && ((await stat(path)).mode & 0o077) !== 0;
      if (isOpen) await chmod(path, OWNER_ONLY);
      return { profiles, repaired: isOpen };
    },
    async write(profiles: Profiles): Promise<void> {
      await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
      await replace(path, `${JSON.stringify(profiles, null, 2)}\n`);
    },
  };
}

/** Names that `--profile` accepts. */
export function isProfileName(name: string): boolean {
  return NAME.test(name) && name !== '__proto__' && name !== LOCAL;
}

const NONE: Profiles = { current: 'default', profiles: {} };

/** Replaces the file atomically, so that a killed or concurrent command never leaves half a file. */
async function replace(path: string, text: string): Promise<void> {
  const partial = `${path}.${randomUUID()}.tmp`;
  const file = await open(partial, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

function parse(path: string, text: string): Profiles {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw broken(path, 'it is not valid JSON');
  }
  if (!isRecord(found) || typeof found['current'] !== 'string' || !isRecord(found['profiles']))
    throw broken(path, 'it has an unknown format');
  const profiles: Record<string, Profile> = {};
  for (const [name, profile] of Object.entries(found['profiles'])) {
    if (!(isProfileName(name) || name === LOCAL) || !isProfile(profile))
      throw broken(path, 'a profile has an unknown format');
    profiles[name] = profile;
  }
  return { current: found['current'], profiles };
}

function broken(path: string, why: string): Failure {
  return new Failure(
    'profile_broken',
    `${path} is not a valid profile file: ${why}. Move it away and log in again.`,
  );
}

function isProfile(value: unknown): value is Profile {
  if (!isRecord(value) || typeof value['url'] !== 'string') return false;
  const { scopes = [] } = value;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string')) return false;
  return TEXTS.every((name) => value[name] === undefined || typeof value[name] === 'string');
}

const TEXTS = ['token', 'label', 'expires_at', 'api_key', 'project'];

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
