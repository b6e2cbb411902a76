import type { Many, One } from './envelope.ts';

/**
 * The scopes of a personal access token. No scope includes another: `edit` does not include `read`. A token never allows more
 * than the current role of its member in the project.
 */
export const TOKEN_SCOPES = ['read', 'review', 'edit', 'admin', 'import'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** A started device authorization. The member types `user_code`, or opens `verification_url`, to approve it. */
export type DeviceBegun = {
  /** The secret of the program. It fetches the token with this code. */
  device_code: string;
  /** The code for the member, in the form `ABCD-EFGH`. */
  user_code: string;
  verification_url: string;
  expires_at: string;
  /** Seconds to wait between two polls for the approval. */
  interval_s: number;
};

/** `expired`: the code has expired, its token was already fetched, or the code does not exist. */
export type DeviceAnswer = { state: 'waiting' | 'denied' | 'expired' } | ({ state: 'approved' } & TokenMade);

/** `token` is returned only once. */
export type TokenMade = TokenState & { token: string };

export type TokenState = {
  label: string;
  scopes: TokenScope[];
  expires_at: string;
  member: { name: string; email: string };
  /** The projects that the token can access now. */
  projects: { id: number; name: string }[];
};

/** The device authorization that a member is to approve. */
export type DeviceAsked = {
  code: string;
  label: string;
  scopes: TokenScope[];
  /** The IP address of the request. */
  address: string;
  requested_at: string;
  expires_at: string;
  /** `used`: the program has fetched its token. */
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
  // For programs without a token.
  'POST /device': { body: { label: string; scopes: TokenScope[] }; answer: One<DeviceBegun> };
  'POST /device/token': { body: { device_code: string }; answer: One<DeviceAnswer> };

  // For the signed-in member.
  'GET /device/:code': { answer: One<DeviceAsked> };
  /** `scopes`: a subset of the requested scopes. Default: all of them. */
  'POST /device/:code/approve': { body: { scopes?: TokenScope[] }; answer: One<DeviceAsked> };
  'POST /device/:code/deny': { answer: One<DeviceAsked> };
  /** Active tokens, and those that expired or were revoked in the last 30 days, newest first. */
  'GET /profile/tokens': { answer: Many<TokenListed> };
  /** Revokes the token permanently, from the next request on. */
  'POST /profile/tokens/:token/revoke': { answer: One<TokenListed> };

  // About the token of the request.
  'GET /token': { answer: One<TokenState> };
  /** Revokes the token permanently. A program does this when it signs out. */
  'POST /token/revoke': { answer: One<{ revoked: boolean }> };
};
