import { betterAuth } from 'better-auth';
import { twoFactor } from 'better-auth/plugins';
import type { Log } from '../../../platform/log.ts';
import type { SignInDatabase } from '../../../platform/db/sign-in-database.ts';
import { cookieNames } from './cookies.ts';
import { versionOf } from './factor-secrets.ts';
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS, SESSION_S } from './team.ts';

export type AuthOptions = {
  database: SignInDatabase['options'];
  publicOrigin: string;
  /** The current secret first. Values that an older one encrypted can still be read. */
  secrets: readonly [string, ...string[]];
  log: Log;
  now: () => number;
};

export type Auth = ReturnType<typeof createAuth>;

/** The header in which `toHeaders` passes the client address, determined by our own proxy rules and not by a client's claim. */
export const ADDRESS_HEADER = 'x-beckon-client';

const DAY_S = 24 * 60 * 60;

/**
 * better-auth checks passwords and authenticator apps and opens their sessions. Only its functions are called. None of its own routes is
 * served, so every request passes our checks of origin, rate and role. Passkeys are in `passkeys.ts`. There is no sign-up: accounts are
 * created by links.
 */
export function createAuth({ database, publicOrigin, secrets, log, now }: AuthOptions) {
  const names = cookieNames(publicOrigin);
  return betterAuth({
    appName: 'Beckon',
    baseURL: publicOrigin,
    basePath: '/api/dashboard/auth',
    trustedOrigins: [publicOrigin],
    database,
    secrets: secrets.map((value) => ({ version: versionOf(value), value })),
    telemetry: { enabled: false },
    logger: { log: (level, message) => log.debug({ severity: level, message }, 'sign_in.logged') },
    ...TABLES,
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_MIN_CHARS,
      maxPasswordLength: PASSWORD_MAX_CHARS,
    },
    session: {
      ...TABLES.session,
      expiresIn: SESSION_S,
      updateAge: DAY_S,
      cookieCache: { enabled: false },
      // better-auth opens a session only after a password or a code was checked, so each begins as confirmed.
      additionalFields: {
        confirmedAt: {
          type: 'date',
          fieldName: 'confirmed_at',
          required: true,
          input: false,
          defaultValue: () => new Date(now()),
        },
      },
    },
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: names.prefix,
      useSecureCookies: false,
      cookies: { session_token: { name: names.session } },
      defaultCookieAttributes: { secure: publicOrigin.startsWith('https:'), sameSite: 'lax', path: '/' },
      disableOriginCheck: false,
      disableCSRFCheck: false,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      // Our migrations create the tables; a test compares them with what better-auth expects.
      database: { validateSchema: false },
    },
    // `attempts.ts` counts wrong codes. Locking the whole account would also keep its owner out.
    plugins: [twoFactor({ issuer: 'Beckon', schema: TWO_FACTOR, accountLockout: { enabled: false } })],
  });
}

const STAMPS = { createdAt: 'created_at', updatedAt: 'updated_at' };

const TABLES = {
  user: {
    modelName: 'team_user',
    fields: { ...STAMPS, emailVerified: 'email_verified' },
  },
  session: {
    modelName: 'team_session',
    fields: {
      ...STAMPS,
      userId: 'user_id',
      expiresAt: 'expires_at',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
    },
  },
  account: {
    modelName: 'team_account',
    fields: {
      ...STAMPS,
      userId: 'user_id',
      accountId: 'account_id',
      providerId: 'provider_id',
      accessToken: 'access_token',
      refreshToken: 'refresh_token',
      idToken: 'id_token',
      accessTokenExpiresAt: 'access_token_expires_at',
      refreshTokenExpiresAt: 'refresh_token_expires_at',
    },
  },
  verification: { modelName: 'team_verification', fields: { ...STAMPS, expiresAt: 'expires_at' } },
} as const;

const TWO_FACTOR = {
  user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
  twoFactor: {
    modelName: 'team_two_factor',
    fields: {
      userId: 'user_id',
      backupCodes: 'backup_codes',
      failedVerificationCount: 'failed_verification_count',
      lockedUntil: 'locked_until',
    },
  },
} as const;
