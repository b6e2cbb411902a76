import { notifications } from '@mantine/notifications';
import { Check, CircleHelp } from 'lucide-react';
import { Suspense } from 'react';
import { lazyPart } from './load-part.ts';

/** An undo takes effect within ten seconds of the action. The offer ends half a second earlier, so that its request arrives in time. */
const OFFERED_MS = 9_500;
/** Older notifications are hidden. Their actions can still be undone, the latest first. */
const SHOWN_MAX = 3;

export const loadUndoToast = () => import('./undo-toast.tsx');
const UndoToast = lazyPart(loadUndoToast, 'default');

/** `isInDoubt`: the action got no response, so it may or may not have been done. */
export type UndoOffer = { message: string; isInDoubt?: boolean };

type Entry = {
  undo: () => unknown;
  begunAt: number;
  /** Resolves to true if there is anything to undo. */
  isThere: Promise<boolean>;
  hide: () => void;
};

let entries: Entry[] = [];
let shown: string[] = [];

/**
 * Makes an action undoable from its request on; a pending action is undone after its response. The returned function offers to undo it in
 * a notification. Called with null, it forgets the action: nothing was done.
 */
export function beginUndoable(undo: () => unknown): (offer: UndoOffer | null) => void {
  const { promise: isThere, resolve } = Promise.withResolvers<boolean>();
  const entry: Entry = { undo, begunAt: Date.now(), isThere, hide: () => undefined };
  entries = [...entries, entry];
  return (offer) => {
    if (offer === null) drop(entry);
    // An action that was already undone needs no offer.
    else if (entries.includes(entry)) show(offer, entry);
    resolve(offer !== null);
  };
}

/** Shows a completed action, and offers to undo it while a countdown runs: with a button, or with `u` on any screen. */
export function undoable({ message, undo }: { message: string; undo: () => unknown }): void {
  beginUndoable(undo)({ message });
}

/** Undoes the latest action that can still be undone. */
export function undoLast(): void {
  const last = entries.at(-1);
  if (last) void take(last);
}

async function take(entry: Entry): Promise<void> {
  drop(entry);
  entry.hide();
  if (await entry.isThere) await entry.undo();
}

function drop(entry: Entry): void {
  entries = entries.filter((other) => other !== entry);
}

function show({ message, isInDoubt = false }: UndoOffer, entry: Entry): void {
  const until = (isInDoubt ? Date.now() : entry.begunAt) + OFFERED_MS;
  const id = notifications.show({
    ...(isInDoubt ? IN_DOUBT : DONE),
    // A pointer over the notification would stop its own timer, and the countdown would be wrong.
    autoClose: false,
    withBorder: true,
    message: (
      <Suspense fallback={message}>
        <UndoToast message={message} until={until} onUndo={() => void take(entry)} />
      </Suspense>
    ),
  });
  shown = [...shown, id];
  for (const older of shown.slice(0, -SHOWN_MAX)) hide(older);
  const timer = setTimeout(() => {
    drop(entry);
    hide(id);
  }, until - Date.now());
  entry.hide = () => {
    clearTimeout(timer);
    hide(id);
  };
}

function hide(id: string): void {
  shown = shown.filter((other) => other !== id);
  notifications.hide(id);
}

const DONE = { icon: <Check size={16} aria-hidden="true" />, color: 'beacon', role: 'status' };
const IN_DOUBT = {
  icon: <CircleHelp size={16} aria-hidden="true" />,
  color: 'orange.9',
  role: 'alert',
  title: 'No response: this may or may not have been done',
};
