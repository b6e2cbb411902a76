import type { Fault } from '../fault.ts';
import { FULL_QUEUE } from './full-queue.ts';
import { SLOW_KILLS } from './slow-kills.ts';
import { STOLEN_CLAIMS } from './stolen-claims.ts';

/** Situations that rarely occur at random. Each is caused on purpose, and its result is checked like any other. */
export const SCENARIOS: Fault[] = [FULL_QUEUE, STOLEN_CLAIMS, SLOW_KILLS];
