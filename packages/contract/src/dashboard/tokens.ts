import Type from 'typebox';
import { TOKEN_SCOPES, type TokenScope } from './choices.ts';
import { item, list, oneOf } from './envelope.ts';

/** A started device authorization. The member types `user_code`, or opens `verification_url`, to approve it. */
export type DeviceAuthorization = {
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
export type DeviceTokenResult =
  | { state: 'waiting' | 'denied' | 'expired' }
  | ({ state: 'approved' } & IssuedToken);

/** `token` is returned only once. */
export type IssuedToken = TokenState & { token: string };

export type TokenState = {
  label: string;
  scopes: TokenScope[];
  expires_at: string;
  member: { name: string; email: string };
  /** The projects that the token can access now. */
  projects: { id: number; name: string }[];
};

/** The device authorization that a member is to approve. */
export type DeviceApproval = {
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

const Text = Type.String({ maxLength: 200 });
const Scopes = Type.Array(oneOf(TOKEN_SCOPES), { maxItems: TOKEN_SCOPES.length });

export const TOKENS_API = {
  // For programs without a token.
  'POST /device': {
    body: Type.Object({ label: Text, scopes: Scopes }),
    response: item<DeviceAuthorization>(),
  },
  'POST /device/token': { body: Type.Object({ device_code: Text }), response: item<DeviceTokenResult>() },

  // For the signed-in member.
  'GET /device/:code': { response: item<DeviceApproval>() },
  /** `scopes`: a subset of the requested scopes. Default: all of them. */
  'POST /device/:code/approve': {
    body: Type.Object({ scopes: Type.Optional(Scopes) }),
    response: item<DeviceApproval>(),
  },
  'POST /device/:code/deny': { response: item<DeviceApproval>() },
  /** Active tokens, and those that expired or were revoked in the last 30 days, newest first. */
  'GET /profile/tokens': { response: list<TokenListed>() },
  /** Revokes the token permanently, from the next request on. */
  'POST /profile/tokens/:token/revoke': { response: item<TokenListed>() },

  // About the token of the request.
  'GET /token': { response: item<TokenState>() },
  /** Revokes the token permanently. A program does this when it signs out. */
  'POST /token/revoke': { response: item<{ revoked: boolean }>() },
};
