import time

import pytest

from llmwiki.text.preamble import looks_like_preamble


@pytest.mark.parametrize(
    "text",
    [
        "Sure, here is the page you asked for:",
        "Sure! The queue holds jobs.",
        "**Certainly!**",
        "Certainly — here's a summary.",
        "Of course. Below is the article.",
        "Here is the rewritten wiki page:",
        "Here\u2019s your summary of the documents.",
        "As an AI language model, I cannot browse.",
        "As an AI, I do not have opinions.",
        "I'm sorry, but I cannot write this page.",
        "Based on the provided sources, the queue holds jobs.",
        "Natürlich! Hier ist die Seite.",
        "Gerne, hier ist die Zusammenfassung:",
        "Hier ist die gewünschte Wiki-Seite:",
        "Als KI-Sprachmodell kann ich das nicht.",
        "Bien sûr ! Voici la page.",
        "Voici le résumé demandé :",
        "En tant qu\u2019IA, je ne peux pas répondre.",
        "¡Claro! Aquí tienes la página.",
        "Aquí está el resumen:",
        "Como modelo de lenguaje, no puedo.",
        "Claro! Aqui está a página.",
        "Certo! Ecco la pagina.",
        "Natuurlijk, hier is de pagina:",
        "Oczywiście! Oto strona.",
        "Конечно! Вот страница.",
        "Tabii ki! İşte sayfa.",
        "İşte istediğiniz özet:",
        "好的\uff0c以下是整理后的页面\uff1a",
        "当然\uff01这是页面。",
        "作为一个人工智能\uff0c我无法回答。",
        "もちろんです。以下はページです。",
        "承知しました。以下が要約です。",
        "물론입니다! 다음은 페이지입니다.",
    ],
)
def test_a_model_that_talks_to_its_user_is_recognised(text: str) -> None:
    assert looks_like_preamble(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure-fire retries are not possible.",
        "Surely the queue holds jobs.",
        "Certainly the queue holds jobs.",
        "Of course, the server must run first.",
        "Here is an example of a configuration file:",
        "Here are the options.",
        "Pages are stored here.",
        "As an AI engineer you will meet vectors.",
        "As an administrator, run the migration.",
        "I am sorry to see you go is the text of the button.",
        "Gerne verwendet wird auch der zweite Weg.",
        "Hier ist ein Beispiel:",
        "Natürliche Zahlen beginnen bei null.",
        "Claro está que el servidor debe existir.",
        "Voici un exemple :",
        "Certo é que o servidor responde.",
        "Как языковой пакет, он лежит рядом.",
        "当然\uff0c您也可以使用环境变量。",
        "以下是可用的选项\uff1a",
        "AI and language models are described on another page.",
    ],
)
def test_documentation_that_only_sounds_alike_is_left_alone(text: str) -> None:
    assert not looks_like_preamble(text)


def test_only_the_beginning_is_looked_at() -> None:
    assert not looks_like_preamble("The queue holds jobs. Sure, here is the page.")
    started = time.process_time()
    looks_like_preamble("here is the " + "word-" * 2_000_000)
    assert time.process_time() - started < 15
