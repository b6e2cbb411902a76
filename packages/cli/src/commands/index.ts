import type { Command } from 'commander';
import type { Shell } from '../shell.ts';
import { addClock } from './clock.ts';
import { addCompletion } from './completion.ts';
import { addDoctor } from './doctor.ts';
import { addDrafts } from './drafts.ts';
import { addExplain } from './explain.ts';
import { addInit } from './init.ts';
import { addListen } from './listen.ts';
import { addLogin } from './login.ts';
import { addLogout, addWhoami } from './logout.ts';
import { addMcp } from './mcp.ts';
import { addRules } from './rules.ts';
import { addTail } from './tail.ts';
import { addTrack } from './track.ts';
import { addTrigger } from './trigger.ts';
import { addTypes } from './types.ts';
import { addEvents, addUsers } from './users.ts';
import { addWebhooks } from './webhooks.ts';

/** In the order in which help lists them: from the first minute on. */
export const COMMANDS: ((program: Command, shell: Shell) => void)[] = [
  addLogin,
  addLogout,
  addWhoami,
  addInit,
  addDoctor,
  addTrack,
  addUsers,
  addEvents,
  addTrigger,
  addTail,
  addListen,
  addDrafts,
  addExplain,
  addRules,
  addWebhooks,
  addTypes,
  addClock,
  addMcp,
  addCompletion,
];
