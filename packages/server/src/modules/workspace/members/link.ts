import type { Role } from '@beckon/contract/dashboard';
import { randomBase62, sha256 } from '../../../platform/crypto/hash.ts';

/** A single-use link. Anyone with its token may use it, and only a hash of the token is stored. */
export type SingleUseLink = {
  id: string;
  kind: 'setup' | 'invite' | 'reset';
  /** Null for the link that sets up the installation. */
  email: string | null;
  organizationId: string | null;
  /** The role that using it gives the member in the organization. Null: the role does not change. */
  role: Role | null;
  /** The member lost their authenticator app, and the operator confirmed it. */
  clearsTwoFactor: boolean;
  /** `team:<id>`, `local-shell`, or `operator` for a command of `beckon-server`. */
  createdBy: string;
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
/** The lifetime of a reset requested by email. A reset link made by the operator reaches the member in other ways. */
const ASKED_RESET_FOR_MS = HOUR_MS;
const GOOD_FOR_MS: Record<SingleUseLink['kind'], number> = {
  setup: 24 * HOUR_MS,
  invite: 7 * 24 * HOUR_MS,
  reset: 24 * HOUR_MS,
};

export function goodForMs({ kind, createdBy }: Pick<SingleUseLink, 'kind' | 'createdBy'>): number {
  return kind === 'reset' && createdBy !== 'operator' ? ASKED_RESET_FOR_MS : GOOD_FOR_MS[kind];
}

export function urlOf(publicUrl: string, kind: SingleUseLink['kind'], token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/${kind}?token=${token}`;
}
