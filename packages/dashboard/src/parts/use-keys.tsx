import { createContext, type ReactNode, use, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type Chord, type KeyWishes, meant, nameKey, NO_WISHES, tries } from './keys.ts';

export type KeyAction = {
  label: string;
  run: (event: KeyboardEvent) => void;
  /** Repeats while the key is held down: for movement, not for decisions. */
  repeats?: boolean;
};
export type KeyMap = Record<string, KeyAction>;
type Group = { title: string; keys: KeyMap; inDialog: boolean };

/** All active shortcuts. The latest registration has precedence; while a dialog is open, only those inside it work. */
type Keyboard = {
  add: (group: () => Group) => () => void;
  listed: () => Group[];
  wishes: KeyWishes;
  wish: (wishes: KeyWishes) => void;
};

const KeyboardContext = createContext<Keyboard | null>(null);
const KEPT_AS = 'beckon-keys';

export function KeysProvider({ children }: { children: ReactNode }): ReactNode {
  const groups = useRef<(() => Group)[]>([]);
  const [wishes, setWishes] = useState(readWishes);
  const wasOpen = useRef(false);
  // A dialog closes at Escape before the listener below runs, and the same Escape must do nothing else. Dialogs
  // add their listeners in effects, which run after layout effects, so this one runs first.
  useLayoutEffect(() => {
    const look = (): void => {
      wasOpen.current = isDialogOpen();
    };
    globalThis.addEventListener('keydown', look, { capture: true });
    return () => globalThis.removeEventListener('keydown', look, { capture: true });
  }, []);
  useEffect(() => {
    const listed = (): Group[] => groups.current.map((group) => group());
    return listen(listed, () => wasOpen.current, wishes);
  }, [wishes]);
  const keyboard: Keyboard = {
    add(group) {
      groups.current.push(group);
      return () => {
        groups.current = groups.current.filter((other) => other !== group);
      };
    },
    listed: () => groups.current.map((group) => group()),
    wishes,
    wish(next) {
      localStorage.setItem(KEPT_AS, JSON.stringify(next));
      setWishes(next);
    },
  };
  return <KeyboardContext value={keyboard}>{children}</KeyboardContext>;
}

export function useKeyboard(): Keyboard {
  const keyboard = use(KeyboardContext);
  if (!keyboard) throw new Error('outside of KeysProvider');
  return keyboard;
}

export type KeyOptions = { enabled?: boolean; inDialog?: boolean };

/** Shortcuts of a screen, under a title in the help. They are inactive while the member types or a dialog is open. */
export function useKeys(
  title: string,
  keys: KeyMap,
  { enabled = true, inDialog = false }: KeyOptions = {},
): void {
  const { add } = useKeyboard();
  const latest = useRef<Group>({ title, keys, inDialog });
  useEffect(() => {
    latest.current = { title, keys, inDialog };
  });
  const adding = useRef(add);
  useEffect(() => (enabled ? adding.current(() => latest.current) : undefined), [enabled]);
}

function listen(groups: () => Group[], wasDialogOpen: () => boolean, wishes: KeyWishes): () => void {
  let chord: Chord = null;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing || MODIFIERS.has(event.key)) return;
    const pressed = nameKey(event);
    if (isHandledByTarget(event.target, pressed)) return;
    const [name = pressed] = tries(pressed, chord, event.timeStamp);
    chord = null;
    const key = meant(name, wishes);
    if (key === null) return;
    const isOpen = wasDialogOpen();
    const open = groups().filter(({ inDialog }) => inDialog || !isOpen);
    const action = find(open, key);
    if (action && (!event.repeat || action.repeats === true)) {
      event.preventDefault();
      action.run(event);
    } else if (!action && begins(open, key)) {
      chord = { first: key, at: event.timeStamp };
    }
  };
  const forget = (): void => {
    chord = null;
  };
  globalThis.addEventListener('keydown', onKeyDown);
  globalThis.addEventListener('blur', forget);
  return () => {
    globalThis.removeEventListener('keydown', onKeyDown);
    globalThis.removeEventListener('blur', forget);
  };
}

const MODIFIERS = new Set(['Shift', 'Control', 'Meta', 'Alt', 'AltGraph', 'CapsLock']);

function find(groups: Group[], name: string): KeyAction | undefined {
  return groups.findLast(({ keys }) => name in keys)?.keys[name];
}

function begins(groups: Group[], first: string): boolean {
  return groups.some(({ keys }) => Object.keys(keys).some((key) => key.startsWith(`${first} `)));
}

/** True if the focused element uses the key itself: characters in a text field, Enter and Space on a button. */
function isHandledByTarget(target: EventTarget | null, pressed: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (pressed === 'Enter' || pressed === ' ')
    return (
      isTyping(target) || target.closest('a, button, summary, label, [role="button"], [role="tab"]') !== null
    );
  return isTyping(target) && !pressed.startsWith('Mod+') && pressed !== 'Escape';
}

function isTyping(target: HTMLElement): boolean {
  if (target.isContentEditable) return true;
  if (target instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button', 'range'].includes(target.type);
  return (
    target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.role === 'combobox'
  );
}

/** Some closed dialogs stay in the page. */
function isDialogOpen(): boolean {
  const open = document.querySelectorAll('[role="dialog"][aria-modal="true"], [role="menu"]');
  return [...open].some((element) => element.checkVisibility());
}

function readWishes(): KeyWishes {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT_AS) ?? 'null') as Partial<KeyWishes> | null;
    return { off: kept?.off === true, instead: { ...kept?.instead } };
  } catch {
    return NO_WISHES;
  }
}
