import type { Many, One } from './envelope.ts';

/**
 * The scopes of a personal token. Each stands alone: `edit` does not include `read`. A token never gives more than the role
 * that its member has in the project at that moment.
 */
export const TOKEN_SCOPES = ['read', 'review', 'edit', 'admin', 'import'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** What a program is told that asks to be let in: the code is for a person, who types it or follows the address. */
export type DeviceBegun = {
  /** For the program alone: by it the token is fetched. */
  device_code: string;
  /** `ABCD-EFGH`. */
  user_code: string;
  verification_url: string;
  expires_at: string;
  /** Seconds to wait between two questions whether it was approved. */
  interval_s: number;
};

/** `expired`: too late, fetched already, or never asked for. */
export type DeviceAnswer = { state: 'waiting' | 'denied' | 'expired' } | ({ state: 'approved' } & TokenMade);

/** `token` is told this once. */
export type TokenMade = TokenState & { token: string };

export type TokenState = {
  label: string;
  scopes: TokenScope[];
  expires_at: string;
  member: { name: string; email: string };
  /** Those that it opens now. */
  projects: { id: number; name: string }[];
};

/** What somebody is asked to approve. */
export type DeviceAsked = {
  code: string;
  label: string;
  scopes: TokenScope[];
  /** From where it was asked. */
  address: string;
  requested_at: string;
  expires_at: string;
  /** `used`: the program has its token. */
  state: 'waiting' | 'approved' | 'denied' | 'used';
};

export type TokenListed = {
  id: string;
  label: string;
  scopes: TokenScope[];
  /** `bkp_…` and the last four characters. */
  display: string;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
};

export type TokensApi = {
  // Of programs, before they have a token.
  'POST /device': { body: { label: string; scopes: TokenScope[] }; answer: One<DeviceBegun> };
  'POST /device/token': { body: { device_code: string }; answer: One<DeviceAnswer> };

  // Of whoever is signed in.
  'GET /device/:code': { answer: One<DeviceAsked> };
  /** `scopes`: some of those that were asked for; left out, all. */
  'POST /device/:code/approve': { body: { scopes?: TokenScope[] }; answer: One<DeviceAsked> };
  'POST /device/:code/deny': { answer: One<DeviceAsked> };
  /** Live ones, and those that ended in the last 30 days; the newest first. */
  'GET /profile/tokens': { answer: Many<TokenListed> };
  /** For good, from the next request on. */
  'POST /profile/tokens/:token/revoke': { answer: One<TokenListed> };

  // Of whoever brings a token, about that token.
  'GET /token': { answer: One<TokenState> };
  /** For good: what a program does that is signed out. */
  'POST /token/revoke': { answer: One<{ revoked: boolean }> };
};
