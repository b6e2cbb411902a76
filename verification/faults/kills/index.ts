import type { Fault } from '../fault.ts';
import { KILL_POSTGRES } from './kill-postgres.ts';
import { KILL_PROCESS } from './kill-process.ts';
import { ROLLING } from './rolling.ts';
import { ZOMBIE } from './zombie.ts';

export const KILLS: Fault[] = [KILL_PROCESS, KILL_POSTGRES, ZOMBIE, ROLLING];
