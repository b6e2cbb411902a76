import type { Command, Noun } from '../framework/declare.ts';
import { audiences } from './audiences.ts';
import { clock } from './clock.ts';
import { doctor } from './doctor.ts';
import { drafts } from './drafts.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { init } from './init.ts';
import { keys } from './keys.ts';
import { listen } from './listen.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { mcp } from './mcp.ts';
import { projects } from './projects.ts';
import { rules } from './rules.ts';
import { tail } from './tail.ts';
import { track } from './track.ts';
import { templates } from './templates.ts';
import { trigger } from './trigger.ts';
import { types } from './types.ts';
import { use } from './use.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';
import { whoami } from './whoami.ts';

/** Commands without a noun, in the order of the help: first those of the first hour. */
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
  webhooks,
  types,
  clock,
];
