import type { Command, Noun } from '../framework/declare.ts';
import { activity, tail } from './activity.ts';
import { audiences } from './audiences.ts';
import { audit } from './audit.ts';
import { clock } from './clock.ts';
import { doctor } from './doctor.ts';
import { domains } from './domains.ts';
import { drafts } from './drafts.ts';
import { emails } from './emails.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { imports } from './imports.ts';
import { deadLetters, queue, requests, warnings } from './ingest.ts';
import { init } from './init.ts';
import { insights } from './insights.ts';
import { keys } from './keys.ts';
import { listen } from './listen.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { mcp } from './mcp.ts';
import { members } from './members.ts';
import { organizations } from './organizations.ts';
import { pause, resume } from './pause.ts';
import { policy } from './policy.ts';
import { projects } from './projects.ts';
import { rateLimits } from './rate-limits.ts';
import { relays } from './relays.ts';
import { replies } from './replies.ts';
import { rules } from './rules.ts';
import { settings } from './settings.ts';
import { suppressions } from './suppressions.ts';
import { system } from './system.ts';
import { testInbox } from './test-inbox.ts';
import { tokens } from './tokens.ts';
import { track } from './track.ts';
import { templates } from './templates.ts';
import { trigger } from './trigger.ts';
import { types } from './types.ts';
import { use } from './use.ts';
import { users } from './users.ts';
import { views } from './views.ts';
import { webhooks } from './webhooks.ts';
import { whoami } from './whoami.ts';

/** Commands without a noun, in the order of the help: the commands that a new user needs come first. */
export const TOP_LEVEL: readonly Command[] = [
  login,
  logout,
  whoami,
  use,
  init,
  doctor,
  track,
  trigger,
  tail,
  listen,
  explain,
  insights,
  pause,
  resume,
  mcp,
];

export const NOUNS: readonly Noun[] = [
  projects,
  keys,
  users,
  events,
  audiences,
  rules,
  templates,
  drafts,
  emails,
  testInbox,
  replies,
  domains,
  relays,
  suppressions,
  imports,
  webhooks,
  settings,
  policy,
  rateLimits,
  queue,
  deadLetters,
  requests,
  activity,
  warnings,
  views,
  members,
  organizations,
  audit,
  tokens,
  types,
  clock,
  system,
];
