import { html } from '@codemirror/lang-html';
import { json } from '@codemirror/lang-json';
import { liquid } from '@codemirror/lang-liquid';
import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, { EditorView, type Extension } from '@uiw/react-codemirror';
import { type ReactNode, useMemo } from 'react';
import type { CodeEditorProps } from './code-editor.tsx';
import classes from './code-editor.module.css';

type InnerProps = Omit<CodeEditorProps, 'label' | 'description' | 'fault'> & {
  labelId: string;
  isFaulty: boolean;
};

const LANGUAGES: Record<CodeEditorProps['language'], () => Extension> = {
  html,
  json,
  // MJML and letters: Liquid around HTML.
  liquid: () => liquid({ base: html() }),
};

export default function CodeEditorInner(props: InnerProps): ReactNode {
  const { value, onChange, language, readOnly = false, height = '320px', labelId, isFaulty } = props;
  const scheme = useComputedColorScheme('light');
  const extensions = useMemo(
    () => [
      LANGUAGES[language](),
      EditorView.lineWrapping,
      // What is only read is not edited, but reached and scrolled by keyboard.
      EditorView.contentAttributes.of({ 'aria-labelledby': labelId, tabindex: '0' }),
    ],
    [language, labelId],
  );
  return (
    <CodeMirror
      className={classes.editor ?? ''}
      data-faulty={isFaulty}
      value={value}
      height={height}
      theme={scheme}
      readOnly={readOnly}
      editable={!readOnly}
      // Tab belongs to the page: who works by keyboard must get out again.
      indentWithTab={false}
      basicSetup={{ foldGutter: false, highlightActiveLine: !readOnly, autocompletion: false }}
      extensions={extensions}
      {...(onChange ? { onChange } : {})}
    />
  );
}
