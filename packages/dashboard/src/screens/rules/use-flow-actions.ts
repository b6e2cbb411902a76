import { type RefObject, useEffect, useRef, useState } from 'react';
import type { RuleDocument } from '@beckon/contract/dashboard';
import { undoable, useKeys } from '../../parts/index.ts';
import { newStep, type Piece } from './document.ts';
import type { FlowActions } from './flow-context.ts';
import {
  afterDeletion,
  allSteps,
  deleteStep,
  insertStep,
  isFork,
  moveStep,
  positionOf,
  stepAt,
} from './flow-edits.ts';
import { type Labels, stepName } from './flow-words.ts';

type Options = {
  document: RuleDocument;
  onChange: (document: RuleDocument) => void;
  labels: Labels;
  readOnly: boolean;
};

type Result = {
  actions: FlowActions;
  opened: Parameters<FlowActions['open']>[0] | null;
  close: () => void;
  /** The last change in words, for screen readers. */
  said: string;
  canvas: RefObject<HTMLDivElement | null>;
};

/** Opens, adds, moves and deletes parts of the flow, and keeps the focus where the member is. */
export function useFlowActions(options: Options): Result {
  const latest = useRef(options);
  const canvas = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<Result['opened']>(null);
  const [said, setSaid] = useState('');
  const focusNext = useRef<string | null>(null);
  const openedBy = useRef('');
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    const selector = focusNext.current;
    if (selector === null) return;
    focusNext.current = null;
    focusOn(canvas.current, selector);
  });
  const [actions] = useState(() =>
    createActions({ latest, canvas, focusNext, openedBy, setOpened, setSaid }),
  );
  useFlowKeys(actions, canvas, options.readOnly);
  const close = (): void => {
    if (opened !== null) focusNext.current = openedBy.current;
    setOpened(null);
  };
  return { actions, opened, close, said, canvas };
}

type Deps = {
  latest: RefObject<Options>;
  canvas: RefObject<HTMLDivElement | null>;
  focusNext: RefObject<string | null>;
  openedBy: RefObject<string>;
  setOpened: (part: Result['opened']) => void;
  setSaid: (words: string) => void;
};

/** The actions read the latest document, so that they stay the same functions. */
function createActions({ latest, canvas, focusNext, openedBy, setOpened, setSaid }: Deps): FlowActions {
  const now = (): Options => latest.current;
  const change = (next: RuleDocument, focus: string | null): void => {
    focusNext.current = focus;
    latest.current = { ...now(), document: next };
    now().onChange(next);
  };
  const nameAt = (path: string): string => stepName(stepAt(now().document, path) ?? {}, now().labels);
  return {
    open(part) {
      const { activeElement } = document;
      const side = activeElement instanceof HTMLElement ? activeElement.dataset['side'] : undefined;
      openedBy.current = side === undefined ? nodeAt(part) : `[data-side="${side}"]`;
      setOpened(part);
    },
    insert(path, kind) {
      change(insertStep(now().document, path, newStep(kind)), null);
      openedBy.current = nodeAt(path);
      setOpened(path as `steps.${string}`);
    },
    mayMove: (path, by) => moveStep(now().document, path, by) !== null,
    move(path, by) {
      const name = nameAt(path);
      const moved = moveStep(now().document, path, by);
      setSaid(moved === null ? `${name} cannot move further` : `${name} moved ${by < 0 ? 'up' : 'down'}`);
      if (moved !== null) change(moved.document, nodeAt(moved.path));
    },
    remove(path) {
      const step = stepAt(now().document, path);
      if (step === undefined) return;
      const message = deletedWords(nameAt(path), step);
      const without = deleteStep(now().document, path);
      const next = afterDeletion(without, path);
      change(without, next === null ? insertAt(path) : nodeAt(next));
      setSaid(message);
      undoable({
        message,
        undo() {
          // After the member left the page, there is no unsaved rule to restore the step in.
          if (canvas.current !== null) change(insertStep(now().document, path, step), nodeAt(path));
        },
      });
    },
  };
}

function deletedWords(name: string, step: Piece): string {
  const inner = isFork(step) ? allSteps({ steps: [step] }).length - 1 : 0;
  return inner === 0
    ? `${name} deleted`
    : `${name} deleted, with ${inner} ${inner === 1 ? 'step' : 'steps'} in it`;
}

function nodeAt(path: string): string {
  return `[data-path="${path}"], [data-side="${path}"]`;
}

function insertAt(path: string): string {
  return `[data-insert="${positionOf(path).list}.0"]`;
}

/** Longer than a closing menu or panel needs to return the focus. */
const AFTER_MS = 60;

function focusOn(canvas: HTMLElement | null, selector: string): void {
  const focus = (): void => {
    const found = canvas?.querySelector<HTMLElement>(selector);
    found?.focus({ preventScroll: true });
    found?.scrollIntoView({ block: 'nearest' });
  };
  focus();
  setTimeout(() => {
    const now = document.activeElement;
    if (now === document.body || (now !== null && now.closest('[role="menu"]') !== null)) focus();
  }, AFTER_MS);
}

/** Shortcuts for the step that has the focus. Arrow keys move between the nodes. */
function useFlowKeys(
  actions: FlowActions,
  canvas: RefObject<HTMLDivElement | null>,
  readOnly: boolean,
): void {
  const focused = (): string | null =>
    (document.activeElement instanceof HTMLElement && document.activeElement.dataset['path']) || null;
  const onStep = (act: (path: string) => void) => () => {
    const path = focused();
    if (path?.startsWith('steps.') === true) act(path);
  };
  const go = (by: number) => (): void => {
    const nodes = [...(canvas.current?.querySelectorAll<HTMLElement>('[data-path]') ?? [])];
    const at = nodes.findIndex((node) => node === document.activeElement);
    nodes[Math.max(0, Math.min(nodes.length - 1, at + by))]?.focus();
  };
  const addAfter = (path: string): void => {
    const { list, index } = positionOf(path);
    canvas.current?.querySelector<HTMLElement>(`[data-insert="${list}.${index + 1}"]`)?.click();
  };
  useKeys('Flow', {
    j: { label: 'Next node', run: go(1), repeats: true },
    k: { label: 'Previous node', run: go(-1), repeats: true },
    ...(readOnly
      ? {}
      : {
          n: { label: 'Add a step after the focused one', run: onStep(addAfter) },
          'Alt+ArrowUp': { label: 'Move the focused step up', run: onStep((path) => actions.move(path, -1)) },
          'Alt+ArrowDown': {
            label: 'Move the focused step down',
            run: onStep((path) => actions.move(path, 1)),
          },
          Delete: { label: 'Delete the focused step', run: onStep(actions.remove) },
        }),
  });
}
