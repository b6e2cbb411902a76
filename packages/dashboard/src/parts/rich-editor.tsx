import { Input } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useId } from 'react';
import classes from './rich-editor.module.css';
import { loadWhenShown } from './when-shown.ts';

export type RichEditorProps = {
  /** Markdown with Liquid in it. */
  value: string;
  /** Called only on a change: a text that is opened and closed stays identical. */
  onChange: (value: string) => void;
  label: string;
  fault?: string | undefined;
  /** Variables that can be inserted, as written: `{{ first_name }}`. */
  variables?: string[];
  height?: number;
};

const Inner = lazy(() => loadWhenShown(() => import('./rich-editor-inner.tsx')));

/** Edits an email in Markdown, as rich text or source. Liquid in it cannot be broken by accident. */
export function RichEditor({ label, fault, height = 320, ...props }: RichEditorProps): ReactNode {
  const id = useId();
  return (
    <Input.Wrapper label={label} error={fault} labelElement="div" labelProps={{ id }}>
      <Suspense fallback={<Waiting value={props.value} height={height} />}>
        <Inner {...props} height={height} labelId={id} />
      </Suspense>
    </Input.Wrapper>
  );
}

/** The text before the editor is loaded, in the same size. */
function Waiting({ value, height }: { value: string; height: number }): ReactNode {
  return (
    <div className={classes.waiting} style={{ minHeight: height }}>
      {value}
    </div>
  );
}
