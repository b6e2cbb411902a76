/** A form over the audience language: it knows the language, and no noun. */
export { PredicateEditor } from './editor.tsx';
