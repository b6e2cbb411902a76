import { Input } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useId } from 'react';
import classes from './code-editor.module.css';
import { loadWhenShown } from './when-shown.ts';

export type CodeEditorProps = {
  value: string;
  onChange?: (value: string) => void;
  language: 'html' | 'liquid' | 'json';
  label: string;
  description?: string;
  readOnly?: boolean;
  /** The error, with its position in the text. */
  fault?: string | undefined;
  height?: string;
};

const Inner = lazy(() => loadWhenShown(() => import('./code-editor-inner.tsx')));

/** A code editor. Tab leaves it, so that keyboard users are not trapped. */
export function CodeEditor({
  label,
  description,
  fault,
  height = '320px',
  ...props
}: CodeEditorProps): ReactNode {
  const id = useId();
  return (
    <Input.Wrapper
      label={label}
      description={description}
      error={fault}
      labelElement="div"
      labelProps={{ id }}
    >
      <Suspense fallback={<Waiting value={props.value} height={height} />}>
        <Inner {...props} height={height} labelId={id} isFaulty={fault !== undefined} />
      </Suspense>
    </Input.Wrapper>
  );
}

/** The text before the editor is loaded, in the same size. */
function Waiting({ value, height }: { value: string; height: string }): ReactNode {
  return (
    <div className={`${classes.editor} ${classes.waiting}`} style={{ height }}>
      {value}
    </div>
  );
}
