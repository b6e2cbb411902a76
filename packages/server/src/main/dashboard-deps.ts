import type { TokenKeys } from '../platform/crypto/email-token.ts';
import type { Sealer } from '../platform/crypto/encrypt.ts';
import type { ListRuleNeeds } from '../modules/audiences/index.ts';
import type { MailSettings, SuppressionHasher } from '../modules/sending/index.ts';
import type { AccountEmails, Team, Installation, Release, KitDeps } from '../modules/workspace/index.ts';
import type { Models } from '../modules/rules/index.ts';
import type { Mailroom } from '../modules/delivery/index.ts';
import type { Resolver } from '../platform/dns/resolver.ts';
import type { OpenRelay } from '../platform/mail/submit.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import type { BacktestPlaces } from '../modules/explain/index.ts';
import type { WebhookSettings } from '../modules/webhooks/index.ts';

/** The dependencies of all routes together. */
export type DashboardDeps = KitDeps & {
  /** Like `access`, with sign-in, invitations and accounts. */
  team: Team;
  /** Wakes the processor after a member queued a record. */
  wake: () => void;
  sealer: Sealer;
  /** Hashes the suppressed addresses of erased users. */
  hasher: SuppressionHasher;
  tokenKeys: TokenKeys;
  mailroom: Mailroom;
  accountEmails: AccountEmails;
  listRuleNeeds: ListRuleNeeds;
  /** Definitions, read once and again when they change. */
  models: Models;
  mail: MailSettings;
  resolver: Resolver;
  /** The relay for test emails. */
  openRelay: OpenRelay;
  /** Connects to hosts that customers named; the caller that opens it closes it. */
  openOutbound: () => Outbound;
  webhooks: WebhookSettings;
  release: Release;
  installation: Installation;
  /** The maximum number of projects of an organization. */
  projectsMax: number;
  /** Client name, in lower case → the least version that the operator requires. */
  minimumVersions: ReadonlyMap<string, string>;
  backtests: BacktestPlaces;
};
