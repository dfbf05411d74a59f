"""Recognises what a model says to its user instead of writing the page."""

import re

from llmwiki.text.hashing import normalise

_BEGINNING = 200
"""Characters that are looked at; a preamble shows itself at once."""
_MARKUP = "*_#>\"'`\u201c\u201e\u00ab\u300c\u300e\u00a1 "


def _any_of(lines: str) -> str:
    """Return an expression for any one of the lines; blanks in a line count."""
    return "(?:" + "|".join(line.strip() for line in lines.strip().splitlines()) + ")"


_INTERJECTION = _any_of(r"""
    (?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|understood|great question|gladly)
    (?:natürlich|selbstverständlich|gerne|klar|natuurlijk|zeker)
    (?:bien sûr|certainement|avec plaisir|d'accord)
    (?:claro(?: que sí)?|por supuesto|con gusto|com certeza|certo|certamente|volentieri)
    (?:oczywiście|jasne|конечно|разумеется|хорошо|tabii(?: ki)?|elbette)
    (?:当然(?:可以)?|好的|没问题|もちろん(?:です)?|承知(?:いた)?しました|かしこまりました)
    (?:물론(?:입니다|이죠)?|네)
""")
_HANDING_OVER = _any_of(r"""
    (?:here(?:'s| is| are| you)|below is|i(?:'ve|'ll| have| will| can)\b|let me)
    (?:hier (?:ist|sind|kommt|folgt|is|zijn)|ich (?:habe|werde))
    (?:voici|voilà|j'ai|je vais|aquí (?:está|tienes?|te)|a continuación)
    (?:ecco|di seguito|aqui está|segue|oto|poniżej|вот|ниже|i\u0307?şte|aşağ\u0131da)
    (?:以下|这是|我(?:将|会|已)|こちら|다음은|아래는|여기)
""")
_DELIVERY = _any_of(r"""
    (?:here(?:'s| is)|below is) (?:the|an?|your|my) WORDS(?:(?:wiki)?page|summary|article)\b
    (?:here(?:'s| is)|below is) (?:the|an?|your|my) WORDS(?:draft|rewrite|response|answer|json)\b
    hier (?:ist|folgt) (?:die|der|das|eine?|deine?|ihre?) WORDS(?:[\w-]*seite|zusammenfassung)\b
    hier (?:ist|folgt) (?:die|der|das|eine?|deine?|ihre?) WORDS(?:artikel|entwurf|antwort)\b
    voici (?:la|le|une?|votre) WORDS(?:page|résumé|synthèse|article|réponse)\b
    aquí (?:está|tienes?) (?:la|el|una?|tu|su) WORDS(?:página|resumen|artículo|respuesta)\b
    aqui está (?:a|o|uma?|sua) WORDS(?:página|resumo|artigo|resposta)\b
    ecco (?:la|il|una?) WORDS(?:pagina|riassunto|sintesi|risposta)\b
    hier is (?:de|het|een|je|uw) WORDS(?:[\w-]*pagina|samenvatting|artikel)\b
    oto WORDS(?:strona|podsumowanie|streszczenie|artykuł)\b
    вот WORDS(?:страница|резюме|статья|сводка|ответ)\b
    i\u0307?şte WORDS(?:sayfa|özet|makale|yan\u0131t)
    以下[是は].{0,40}?(?:页面|頁面|摘要|总结|文章|ページ|要約|記事)
    다음은.{0,40}?(?:페이지|요약|문서)
""").replace("WORDS", r"(?:[\w-]+ ){0,3}")
_SELF_DESCRIPTION = _any_of(r"""
    (?:as|i am|i'm) an? (?:ai(?! \w)|ai (?:language )?(?:model|assistant)\b)
    (?:as|i am|i'm) an? (?:(?:large )?language model|artificial intelligence)\b
    als (?:eine? )?(?:(?:ki|ai)(?! \w)|sprachmodell\b|künstliche intelligenz\b|taalmodel\b)
    en tant qu(?:'|e )(?:une? )?(?:ia|intelligence artificielle|modèle de langage)\b
    como (?:una? |uma? )?(?:ia|inteligencia artificial|inteligência artificial)\b
    como (?:una? |uma? )?modelo de (?:lenguaje|linguagem)\b
    (?:in quanto|come) (?:una? )?(?:ia|intelligenza artificiale|modello linguistico)\b
    jako (?:sztuczna inteligencja|model językowy)\b
    как (?:ии|языковая модель|искусственный интеллект)\b
    bir (?:yapay zeka|dil modeli)\b
    作为(?:一个|一名)?(?:ai|人工智能|大?语言模型)
    (?:ai|人工知能|言語モデル)として
    (?:ai|인공지능|언어 모델)로서
""")
_REFUSAL = _any_of(r"""
    (?:i'm|i am) (?:sorry|afraid),? (?:but )?i\b
    i apologi[sz]e\b
    es tut mir leid,? (?:aber )?ich\b
    je suis désolée?,? (?:mais )?je\b
    lo siento,? (?:pero )?no\b
    mi dispiace,? (?:ma )?non\b
    desculpe,? (?:mas )?(?:eu )?não\b
    based on the (?:provided|given|supplied) (?:sources?|context|chunks?|text|information)\b
""")
_EXCLAMATION = "[!\uff01]"
_PAUSE = "[!,.:;\u2013\u2014\uff01\uff0c\u3002\uff1a\u3001-]"
_PREAMBLE = re.compile(
    rf"{_INTERJECTION}\s?(?:{_EXCLAMATION}|{_PAUSE}+\s?{_HANDING_OVER}|[.\u3002]?$)"
    rf"|{_DELIVERY}|{_SELF_DESCRIPTION}|{_REFUSAL}"
)


def looks_like_preamble(text: str) -> bool:
    """Tell whether the text begins as a model talking: "Sure, here is the page", "As an AI…".

    Documentation may say such a thing of its own accord; the caller knows whether a source does.
    """
    beginning = normalise(text[: 2 * _BEGINNING])[:_BEGINNING].lstrip(_MARKUP)
    return _PREAMBLE.match(beginning.casefold().replace("\u2019", "'")) is not None
