import { parentPort, workerData } from 'node:worker_threads';
import { readHere, type ToRead } from './read-inbound.ts';

parentPort?.postMessage(await readHere(workerData as ToRead));
