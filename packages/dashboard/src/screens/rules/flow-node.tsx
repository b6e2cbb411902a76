import {
  CircleAlert,
  CircleStop,
  Clock,
  Code,
  Ellipsis,
  FlaskConical,
  type LucideIcon,
  Mail,
  Plus,
  Radio,
  Split,
} from 'lucide-react';
import { type ComponentProps, type ReactElement, type ReactNode, Suspense, useRef, useState } from 'react';
import { endWords } from '../../parts/end-words.ts';
import { lazyPart } from '../../parts/load-part.ts';
import { type Piece, stepKind, type StepKind } from './document.ts';
import { useFlow } from './flow-context.ts';
import { isOnEdge, KIND_NAMES, type Part, stepName, type StepNumbers, stepTitle } from './flow-words.ts';
import classes from './flow.module.css';

const InsertMenu = lazyPart(() => import('./flow-menus.tsx'), 'InsertMenu');
const StepMenu = lazyPart(() => import('./flow-menus.tsx'), 'StepMenu');

export const STEP_ICONS: Record<StepKind, LucideIcon> = {
  email: Mail,
  inline: Mail,
  wait: Clock,
  wait_until: Clock,
  wait_for: Radio,
  branch: Split,
  end: CircleStop,
};

type NodeProps = {
  part: Part | `steps.${string}`;
  icon: LucideIcon;
  kind: string;
  title: string;
  /** `edge`: a label on the line between two nodes. */
  shape?: 'card' | 'edge';
  numbers?: ReactNode;
  menu?: ReactNode;
};

/** A node of the flow: a button that opens its form, and its menu. */
export function FlowNode({
  part,
  icon: Icon,
  kind,
  title,
  shape = 'card',
  numbers,
  menu,
}: NodeProps): ReactNode {
  const { faulty, selected, actions } = useFlow();
  const isFaulty = faulty.has(part);
  return (
    <div
      className={classes.node}
      data-shape={shape}
      data-kind={kind}
      data-faulty={isFaulty}
      data-selected={selected === part}
    >
      <button
        type="button"
        className={classes.open}
        data-path={part}
        aria-haspopup="dialog"
        onClick={() => actions.open(part)}
      >
        <span className={classes.icon}>
          <Icon size={shape === 'edge' ? 14 : 16} aria-hidden="true" />
        </span>
        <span className={classes.words}>
          {shape === 'card' && <span className={classes.kind}>{kind} </span>}
          <span className={classes.title}>{title} </span>
          {isFaulty && (
            <span className={classes.fault}>
              <CircleAlert size={13} aria-hidden="true" /> Needs attention{' '}
            </span>
          )}
          {numbers}
        </span>
      </button>
      {menu}
    </div>
  );
}

/** A step as a node. Waits are labels on the line. */
export function StepNode({ step, path }: { step: Piece; path: `steps.${string}` }): ReactNode {
  const { labels, numbers, reach, readOnly } = useFlow();
  const kind = stepKind(step);
  const reached = reach?.get(path);
  const counted = numbers.get(path);
  return (
    <FlowNode
      part={path}
      icon={kind === null ? Code : STEP_ICONS[kind]}
      kind={kind === null ? 'Step' : KIND_NAMES[kind]}
      title={stepTitle(step, labels)}
      shape={isOnEdge(step) ? 'edge' : 'card'}
      numbers={
        reach !== null
          ? reached && <Reached {...reached} isEmail={kind === 'email' || kind === 'inline'} />
          : counted && <Numbers {...counted} isEnd={kind === 'end'} />
      }
      menu={!readOnly && <StepMenuButton path={path} name={stepName(step, labels)} />}
    />
  );
}

type NumbersProps = StepNumbers & { isEnd: boolean };

function Numbers({ here, paused, passed, completed, left, leftFor, isEnd }: NumbersProps): ReactNode {
  const reasons = Object.entries(leftFor).map(([reason, count]) => `${count} ${endWords(reason)}`);
  return (
    <span className={classes.numbers}>
      {here > 0 && (
        <span className={classes.here}>
          {here.toLocaleString('en-GB')} now
          {paused > 0 ? ` (${paused.toLocaleString('en-GB')} paused)` : ''}{' '}
        </span>
      )}
      <span>{isEnd ? `${completed.toLocaleString('en-GB')} completed ` : `${passed} passed `}</span>
      {left > 0 && <span title={reasons.join(', ')}>{left.toLocaleString('en-GB')} left</span>}
    </span>
  );
}

function Reached({ users, emails, isEmail }: { users: number; emails: number; isEmail: boolean }): ReactNode {
  return (
    <span className={classes.numbers} data-backtest="true">
      <FlaskConical size={12} aria-hidden="true" />
      <span>{plural(users, 'user')} </span>
      {isEmail && <span>{plural(emails, 'email')}</span>}
    </span>
  );
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en-GB')} ${noun}${count === 1 ? '' : 's'}`;
}

type EdgeProps = { path: string; label: string; isLast?: boolean };

/** The line to a node, with the button that adds a step there. */
export function Edge({ path, label, isLast = false }: EdgeProps): ReactNode {
  const { readOnly, isFull } = useFlow();
  return (
    <div className={classes.edge}>
      {!readOnly && !isFull && (
        <WithMenu
          button={(opener) => (
            <button
              type="button"
              className={classes.insert}
              aria-label={label}
              data-insert={path}
              {...opener}
            >
              <Plus size={14} aria-hidden="true" />
            </button>
          )}
        >
          {(menu) => <InsertMenu {...menu} path={path} isLast={isLast} />}
        </WithMenu>
      )}
    </div>
  );
}

function StepMenuButton({ path, name }: { path: `steps.${string}`; name: string }): ReactNode {
  return (
    <WithMenu
      button={(opener) => (
        <button type="button" className={classes.more} aria-label={`Actions for ${name}`} {...opener}>
          <Ellipsis size={16} aria-hidden="true" />
        </button>
      )}
    >
      {(menu) => <StepMenu {...menu} path={path} />}
    </WithMenu>
  );
}

type Opener = Pick<ComponentProps<'button'>, 'ref' | 'aria-haspopup' | 'aria-expanded' | 'onClick'>;
/** An open or closed menu, and the button below which it opens. */
export type MenuState = { opened: boolean; onChange: (opened: boolean) => void; target: ReactElement };
type WithMenuProps = { button: (opener: Opener) => ReactElement; children: (menu: MenuState) => ReactNode };

/** A button whose menu is loaded when it first opens. A menu that closes without an action returns the focus. */
function WithMenu({ button, children }: WithMenuProps): ReactNode {
  const [opened, setOpened] = useState<boolean | null>(null);
  const ref = useRef<HTMLButtonElement>(null);
  const target = button({
    ref,
    'aria-haspopup': 'menu',
    'aria-expanded': opened === true,
    onClick: () => setOpened(true),
  });
  if (opened === null) return target;
  const onChange = (next: boolean): void => {
    setOpened(next);
    if (!next) setTimeout(() => focusIfLost(ref.current), 0);
  };
  return <Suspense fallback={target}>{children({ opened, onChange, target })}</Suspense>;
}

function focusIfLost(button: HTMLElement | null): void {
  const now = document.activeElement;
  if (now === document.body || now?.closest('[role="menu"]')) button?.focus();
}
