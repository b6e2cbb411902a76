export type { Happened, Outcome, WhatHappened } from './outcome.ts';
