import { Button, Drawer, Group, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Trash2 } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { ActButton } from '../../parts/act-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ConditionField } from './condition-field.tsx';
import { STEP_LABELS, stepKind, triggersOf, withField, withTriggers } from './document.ts';
import { useFacts } from './facts.ts';
import { replaceStep, stepAt } from './flow-edits.ts';
import { type Labels, type Part, PARTS, stepName } from './flow-words.ts';
import {
  EntryField,
  ExitsField,
  LimitsField,
  ModeField,
  NameField,
  type PartProps,
} from './limits-field.tsx';
import { StepParts } from './step-parts.tsx';
import { TriggersField } from './trigger-field.tsx';

type Props = PartProps & {
  /** A step by its path, or another part of the rule; null: closed. */
  part: Part | `steps.${string}` | null;
  onClose: () => void;
  onDelete: (path: string) => void;
  labels: Labels;
};

/** Wide screens show the form at the side, and phones show it as a sheet from below. */
const NARROW = '(max-width: 40em)';

/** Edits one node of the flow. Changes apply at once and are saved with the rule. */
export function FlowPanel({ part, onClose, onDelete, labels, ...props }: Props): ReactNode {
  const isNarrow = useMediaQuery(NARROW, globalThis.matchMedia(NARROW).matches);
  const form = useRef<HTMLDivElement>(null);
  // The form stays while the panel closes.
  const [shown, setShown] = useState(part);
  if (part !== null && part !== shown) setShown(part);
  const step = shown !== null && isStep(shown) ? stepAt(props.document, shown) : undefined;
  return (
    <Drawer
      opened={part !== null}
      onClose={onClose}
      title={titleOf(shown, step && stepName(step, labels))}
      position={isNarrow ? 'bottom' : 'right'}
      size={isNarrow ? '85%' : 'lg'}
      returnFocus={false}
      overlayProps={{ backgroundOpacity: 0.15 }}
      onEnterTransitionEnd={() => focusFirst(form.current)}
      {...(isNarrow ? { styles: { content: { borderRadius: '12px 12px 0 0' } } } : {})}
    >
      {shown !== null && (
        <Stack gap="lg" ref={form}>
          {isStep(shown) ? <StepForm {...props} path={shown} /> : <PartForm {...props} part={shown} />}
          <Foot onClose={onClose} {...(isStep(shown) ? { onDelete: () => onDelete(shown) } : {})} />
        </Stack>
      )}
    </Drawer>
  );
}

/** Focuses the first field with an error, or the first field. */
function focusFirst(form: HTMLElement | null): void {
  const fields = 'input:not([type="hidden"]), textarea, select, [contenteditable="true"]';
  const field =
    form?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? form?.querySelector<HTMLElement>(fields);
  (field ?? form?.querySelector<HTMLElement>('button'))?.focus();
}

function isStep(part: string): part is `steps.${string}` {
  return part.startsWith('steps.');
}

function titleOf(part: Props['part'], step: string | undefined): string {
  if (part === null) return '';
  return isStep(part) ? (step ?? 'Step') : PARTS[part];
}

function StepForm({ document, onChange, path }: PartProps & { path: `steps.${string}` }): ReactNode {
  const step = stepAt(document, path);
  if (step === undefined) return null;
  const kind = stepKind(step);
  if (kind === null) return <Muted>The form does not support this step. Edit it in the JSON view.</Muted>;
  return (
    <Stack gap="sm">
      <Muted size="xs">{STEP_LABELS[kind]}</Muted>
      <StepParts
        kind={kind}
        step={step}
        path={path}
        onChange={(next) => onChange(replaceStep(document, path, next))}
      />
    </Stack>
  );
}

function PartForm({ part, ...props }: PartProps & { part: Part }): ReactNode {
  const { document, onChange } = props;
  switch (part) {
    case 'when':
      return (
        <TriggersField
          triggers={triggersOf(document)}
          isList={Array.isArray(document['when'])}
          onChange={(triggers) => onChange(withTriggers(document, triggers))}
        />
      );
    case 'only_if':
      return (
        <ConditionField
          label="Add condition"
          none="All users who trigger the rule."
          value={document['only_if']}
          onChange={(value) => onChange(withField(document, 'only_if', value))}
          path="only_if"
        />
      );
    case 'goal':
      return <ExitsField {...props} />;
    case 'enrollment':
      return <EntryField {...props} />;
    case 'sending':
      return <ModeField {...props} />;
    case 'limits':
      return (
        <Stack gap="md">
          <NameField {...props} />
          <LimitsField {...props} />
        </Stack>
      );
    default:
      return part satisfies never;
  }
}

function Foot({ onClose, onDelete }: { onClose: () => void; onDelete?: () => void }): ReactNode {
  const { readOnly } = useFacts();
  const remove = (): void => {
    onClose();
    onDelete?.();
  };
  return (
    <Group justify="space-between">
      {onDelete && !readOnly ? (
        <ActButton
          icon={Trash2}
          variant="subtle"
          color="red.9"
          c="var(--mantine-color-error)"
          onClick={remove}
        >
          Delete step
        </ActButton>
      ) : (
        <span />
      )}
      <Button onClick={onClose}>Done</Button>
    </Group>
  );
}
