import type { Role } from '@beckon/contract/dashboard';
import { randomBase62, sha256 } from '../../base/hash.ts';

/** A way in that works once. Whoever holds its token may use it; of the token only a hash is kept. */
export type Link = {
  id: string;
  kind: 'setup' | 'invite' | 'reset';
  /** Null: whoever sets up. */
  email: string | null;
  organizationId: string | null;
  /** What using it makes of them in the organization; null: nothing changes. */
  role: Role | null;
  /** They lost their authenticator app, and the operator knows it. */
  clearsTwoFactor: boolean;
  /** `team:<id>`, `local-shell`, or `operator` for a command of `beckon-server`. */
  madeBy: string;
  createdAt: Date;
  expiresAt: Date;
};

const TOKEN_CHARS = 43;

export function newToken(): { token: string; hash: string } {
  const token = randomBase62(TOKEN_CHARS);
  return { token, hash: hashOf(token) };
}

export function hashOf(token: string): string {
  return sha256(token);
}

const HOUR_MS = 3_600_000;
/** Of a reset that somebody asked for by mail; one that the operator made is handed over by other ways. */
const ASKED_RESET_FOR_MS = HOUR_MS;
const GOOD_FOR_MS: Record<Link['kind'], number> = {
  setup: 24 * HOUR_MS,
  invite: 7 * 24 * HOUR_MS,
  reset: 24 * HOUR_MS,
};

export function goodForMs({ kind, madeBy }: Pick<Link, 'kind' | 'madeBy'>): number {
  return kind === 'reset' && madeBy !== 'operator' ? ASKED_RESET_FOR_MS : GOOD_FOR_MS[kind];
}

export function urlOf(publicUrl: string, kind: Link['kind'], token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/${kind}?token=${token}`;
}
